// SPDX-License-Identifier: MIT
#include "fusekit/backend/host/tile_totals.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "fusekit/fusekit.hpp"

namespace fk = fusekit;
using namespace fusekit::host;
using fusekit::detail::Axis;

namespace {

using Epilogue = fk::detail::Epilogue<fk::ChannelStatistics>;
constexpr std::int64_t tile_pixels = 64;

/// Statistics of x[k][pixel], totalled in tiles. An accumulator receives `step` values at a time.
struct Statistics {
    std::vector<float> mean, variance;

    template <Axis axis>
    static Statistics of(std::vector<std::vector<float>> const& x, int threads, int step = lanes) {
        auto const channels = static_cast<std::int64_t>(x.size()), pixels = static_cast<std::int64_t>(x[0].size());
        std::int64_t const tiles = (pixels + tile_pixels - 1) / tile_pixels;
        std::vector<float> scratch(static_cast<std::size_t>(3 * tiles * channels), -1);
        Statistics result{std::vector<float>(x.size(), -1), std::vector<float>(x.size(), -1)};
        fk::TensorView<float, 1> const mean(result.mean.data(), fk::channels(channels)),
            variance(result.variance.data(), fk::channels(channels)),
            room(scratch.data(), fk::channels(3 * tiles * channels));
        Epilogue::Args const args{{{mean, variance, room}}};
        TileTotals<Epilogue> const totals(args, channels, pixels, tile_pixels);
        for (std::int64_t tile = 0; tile < tiles; ++tile) {
            std::int64_t const first = tile * tile_pixels, last = std::min(first + tile_pixels, pixels);
            for (std::int64_t k = 0; k < channels; k += axis == Axis::channel ? lanes : 1) {
                TileTotals<Epilogue>::Accumulator<axis> accumulator;
                int const used = static_cast<int>(std::min<std::int64_t>(lanes, channels - k));
                for (std::int64_t pixel = first; pixel < last;) {
                    Vector v = Vector{} + 1e30f;  // in invalid lanes
                    int const now =
                        axis == Axis::channel ? 1 : static_cast<int>(std::min<std::int64_t>(step, last - pixel));
                    for (int lane = 0; lane < (axis == Axis::channel ? used : now); ++lane)
                        v[lane] = axis == Axis::channel
                                      ? x[static_cast<std::size_t>(k + lane)][static_cast<std::size_t>(pixel)]
                                      : x[static_cast<std::size_t>(k)][static_cast<std::size_t>(pixel + lane)];
                    accumulator.add(v, axis == Axis::channel ? used : now);
                    pixel += now;
                }
                totals.put(tile, k, accumulator.total(), axis == Axis::channel ? used : 1);
            }
        }
        Device device(threads);
        Device::RunContext context(device);
        totals.save(context);
        return result;
    }
    bool operator==(Statistics const&) const = default;
};

/// Channels of values whose mean is the channel's index and whose variance is 4, over an even number of pixels.
std::vector<std::vector<float>> rows(int channels, int pixels) {
    std::vector<std::vector<float>> x(static_cast<std::size_t>(channels));
    for (std::size_t k = 0; k < x.size(); ++k)
        for (int i = 0; i < pixels; ++i) x[k].push_back(static_cast<float>(k) + (i % 2 ? 2.0f : -2.0f));
    return x;
}

}  // namespace

TEST_CASE("tile totals are merged to channel statistics, along channels and along pixels") {
    for (int const channels : {1, lanes, 2 * lanes + 3})
        for (int const pixels : {2, 64, 66, 640}) {
            auto const x = rows(channels, pixels);
            Statistics expected;
            for (int k = 0; k < channels; ++k)
                expected.mean.push_back(static_cast<float>(k)), expected.variance.push_back(4);
            INFO(channels << " channels of " << pixels << " pixels");
            CHECK(Statistics::of<Axis::channel>(x, 1) == expected);
            CHECK(Statistics::of<Axis::pixel>(x, 1) == expected);
        }
}

TEST_CASE("statistics depend neither on the number of threads nor on the order in a tile") {
    std::vector<std::vector<float>> x(static_cast<std::size_t>(lanes + 1));
    unsigned draw = 1;
    for (auto& row : x)
        for (int i = 0; i < 1000; ++i)
            row.push_back(static_cast<float>((draw = draw * 1664525u + 1013904223u) >> 8) * 0x1p-24f);
    auto const along_channels = Statistics::of<Axis::channel>(x, 1), along_pixels = Statistics::of<Axis::pixel>(x, 1);
    for (int const threads : {2, 3}) {
        CHECK(Statistics::of<Axis::channel>(x, threads) == along_channels);
        CHECK(Statistics::of<Axis::pixel>(x, threads) == along_pixels);
    }
    for (int const step : {1, 3, lanes - 1}) CHECK(Statistics::of<Axis::pixel>(x, 1, step) == along_pixels);
}
