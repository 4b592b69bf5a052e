// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/statistics/tile_totals.hpp"

#include <cmath>

#include "backend/hip/blocks.hpp"

using namespace test;

namespace {

constexpr int channels = 8, parts = 2;
using Plan = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::ChannelStatistics>;

/// Value of a part of a tile, in a channel.
__host__ __device__ int value(unsigned tile, unsigned part, unsigned k) {
    return static_cast<int>((tile * parts + part) * (k + 3) % 16);
}

/// Each CTA finishes one tile of one column of tiles.
struct EndTiles : BlockOf<64> {
    using Totals = fk::hip::TileTotals<Plan, channels, parts, threads>;
    using Params = fk::hip::ConvParams<Plan, float>;
    using Shared = typename Totals::Shared;
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        auto const all = static_cast<unsigned>(params.y.layout.shape[1]);
        unsigned const columns = (all + channels - 1) / channels, tile = block / columns, column = block % columns,
                       first = column * channels, count = all - first < channels ? all - first : channels;
        if (thread < parts * count) {
            unsigned const part = thread / count, n = thread % count;
            Totals::Accumulator one{};
            one.add(1000, false);
            one.add(static_cast<float>(value(tile, part, first + n)));
            shared.parts[part][n].value() = one.total();
        }
        Totals::finalize(params, shared, parts, thread, tile, column, static_cast<int>(first), count);
    }
};

/// Runs all tiles, twice, and compares every channel's mean and variance.
void check_totals(unsigned tiles, unsigned group_size, std::int64_t k) {
    fk::hip::Device device = gpu();
    auto const columns = (k + channels - 1) / channels, groups = std::int64_t{(tiles + group_size - 1) / group_size};
    Array<float> const mean(device, static_cast<std::size_t>(k), -1), variance(device, static_cast<std::size_t>(k), -1),
        scratch(device, tiles * static_cast<std::size_t>(k) * 3, -1), unused(device, 1, 0);
    Array<fk::hip::GridGroup::State> const states(device, static_cast<std::size_t>(columns * (groups + 1)), {0, 0});
    fk::TensorView<float const> const x(unused.data(), fk::nchw(1, 1, 1, 1)), w(unused.data(), fk::kcrs(k, 1, 1, 1));
    auto const bound =
        Plan::bind({.weights = w},
                   {.mean = {mean.data(), fk::channels(k)},
                    .variance = {variance.data(), fk::channels(k)},
                    .scratch = fk::TensorView<float, 1>(scratch.data(), fk::channels(std::int64_t{tiles} * k * 3))});
    fk::hip::ConvParams<Plan, float> params{bound, x, {unused.data(), fk::nchw(1, k, 1, 1)}, false, false, false, {}};
    params.tile_groups = {{states.data()}, tiles, group_size};
    for (int launch = 0; launch < 2; ++launch) {
        run_blocks<EndTiles>(device, params, tiles * columns);
        auto const means = mean.values(), variances = variance.values();
        CAPTURE(tiles, group_size, k, launch);
        for (unsigned channel = 0; channel < k; ++channel) {
            double sum = 0, squares = 0, count = tiles * parts;
            for (unsigned tile = 0; tile < tiles; ++tile)
                for (unsigned part = 0; part < parts; ++part) {
                    double const x = value(tile, part, channel);
                    sum += x, squares += x * x;
                }
            double const exact = sum / count, deviations = squares / count - exact * exact;
            // A merge rounds a few times; the depth of the merge tree is log2 of the number of tiles.
            CHECK(std::fabs(means[channel] - exact) <= 64 * 0x1p-24 * 16);
            CHECK(std::fabs(variances[channel] - deviations) <= 64 * 0x1p-24 * 256);
        }
    }
    for (auto const& state : states.values()) CHECK(state.arrived == 0);
}

}  // namespace

TEST_CASE("HIP: TileTotals merges each tile's total once and resets the workspace") {
    check_totals(1, 1, 5);
    check_totals(16, 4, 8);
    check_totals(13, 4, 19);  // the last group and the last column are partial
    check_totals(40, 8, 11);
}
