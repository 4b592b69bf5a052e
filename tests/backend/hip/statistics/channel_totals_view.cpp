// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/statistics/channel_totals_view.hpp"

#include <cmath>
#include <cstring>

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"

using namespace test;

namespace {

struct Total {
    float count, sum;
};
constexpr unsigned tiles = 5, channels = 3;

/// Warp 0 writes the totals of all tiles, the last tile first; warp 1 waits for them and copies them. One of the words
/// is the NaN that marks a total as not written.
struct PassTotals : BlockOf<64> {
    using Architecture = fk::hip::arch::Sm90a;
    struct Params {
        unsigned* words;
        Total* out;
    };
    struct Shared {};
    __device__ static Total total_of(unsigned tile, unsigned k) {
        float nan;
        unsigned const bits = 0xffffffff;
        memcpy(&nan, &bits, sizeof nan);
        return {static_cast<float>(tile + 1), tile == 2 && k == 1 ? nan : static_cast<float>(10 * tile + k)};
    }
    __device__ static void run(Params const& params, Shared&, unsigned thread, unsigned) {
        fk::hip::ChannelTotalsView<Total> const view{params.words, channels};
        unsigned const k = thread % 32;
        if (thread < 32 && k < channels)
            for (unsigned tile = 0; tile < tiles; ++tile) view.clear(tile, k);
        __syncthreads();
        if (k >= channels) return;
        if (thread < 32) {
            for (unsigned i = 0; i < tiles; ++i) view.put(tiles - 1 - i, k, total_of(tiles - 1 - i, k));
        } else {
            Total totals[tiles];
            view.get(totals, k, true, [](unsigned i) { return i; });
            for (unsigned i = 0; i < tiles; ++i) params.out[i * channels + k] = totals[i];
        }
    }
};

}  // namespace

TEST_CASE("HIP: statistics of channels are read once they are written, without a flag beside them") {
    fk::hip::Device device = sm90a_device();
    Array<unsigned> const words(device, tiles * channels * 2, 7u);
    Array<Total> const out(device, tiles * channels, Total{-1, -1});
    run_blocks<PassTotals>(device, {words.data(), out.data()});
    auto const found = out.values();
    for (unsigned i = 0; i < tiles * channels; ++i) {
        CHECK(found[i].count == static_cast<float>(i / channels + 1));
        if (i == 2 * channels + 1) CHECK(std::isnan(found[i].sum));  // a NaN remains one
        else CHECK(found[i].sum == static_cast<float>(10 * (i / channels) + i % channels));
    }
}
