// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/tma_filters.hpp"

#include <cstring>

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "fusekit/backend/hip/plane_grid.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

using Plan = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>;
using Tiles = hip::PlaneTiles<128, fk::half>;
using Grid = hip::PlaneGrid<Tiles, 1, 128>;
using Filters = hip::PlaneFilters<Grid>;

/// A warpgroup stores the stages of filters of all its tiles, in order: out[stage][bytes].
struct DumpStages : BlockOf<128> {
    static constexpr bool reads_argument_in_place = true;
    using Architecture = hip::arch::Sm90a;
    struct Params {
        hip::ConvParams<Plan, fk::half> conv;
        int own;  ///< first filter of the warpgroup in a tile
        unsigned char* out;
    };
    struct alignas(1024) DynamicShared {
        Filters::Shared filters;
        Filters::State state;
    };
    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned) {
        if (thread == 0) {
            shared.state.init();
            hip::ptx::fence_mbarrier_init();
        }
        __syncthreads();
        auto const conv = params.conv.problem();
        Tiles const tiles(conv.y[2], conv.y[3], conv.x.layout.shape[2], conv.x.layout.shape[3], conv.filter, conv.y[0]);
        Grid const grid(conv, tiles);
        Filters filters(shared.filters, shared.state, conv, grid, params.own, 0, thread);
        filters.refill(params.conv, conv, Filters::stages);
        unsigned char* to = params.out;
        int const of_block = params.conv.channels_fastest ? 9 : 8;
        for (unsigned tile = 0; tile < grid.size(); ++tile) {
            if (grid.first_channel(tile) + params.own >= conv.group_k()) continue;
            for (int i = 0; i < grid.channel_blocks() * of_block; ++i, to += Filters::stage_bytes) {
                unsigned char const* const stage = filters.next();
                for (int byte = static_cast<int>(thread); byte < Filters::stage_bytes; byte += threads)
                    to[byte] = stage[byte];
                __syncthreads();
                filters.refill(params.conv, conv, 1);
            }
        }
    }
};

void check(int c, int k, bool channels_last, int own) {
    hip::Device device = sm90a_device();
    fk::Layout<4> const of_w = channels_last ? fk::krsc(k, 3, 3, c) : fk::kcrs(k, c, 3, 3);
    auto const number = [](int a, int b, int r, int s) {
        return static_cast<float>((a * 31 + b * 17 + r * 7 + s * 3) % 997 + 1);
    };
    std::vector<fk::half> w(static_cast<std::size_t>(of_w.size()));
    for (int i = 0; i < k * c * 9; ++i)
        w[static_cast<std::size_t>(of_w.offset({{i / 9 / c, i / 9 % c, i % 9 / 3, i % 3}}))] =
            fk::half(number(i / 9 / c, i / 9 % c, i % 9 / 3, i % 3));
    int const tiles_of_pixels = 2, columns = (k + 127) / 128, blocks = (c + 63) / 64, of_block = channels_last ? 9 : 8;
    int count = 0;  // tiles with filters of the warpgroup
    for (int tile = 0; tile < tiles_of_pixels * columns; ++tile) count += tile % columns * 128 + own < k;
    Array<fk::half> const of_memory(device, w);
    Array<unsigned char> const out(device, static_cast<std::size_t>(count * blocks * of_block * Filters::stage_bytes),
                                   0xff);
    fk::TensorView<fk::half const> const view(of_memory.data(), of_w);
    auto const bound = Plan::bind({.weights = view});
    DumpStages::Params params{
        {bound, {of_memory.data(), fk::nchw(2, c, 9, 12)}, {nullptr, fk::nchw(2, k, 9, 12)}}, own, out.data()};
    params.conv.channels_fastest = channels_last;
    if (channels_last) {
        hip::detail::MapModes<fk::half const> const modes(view);
        std::uint32_t const box[] = {64, 1, 1, 64};
        REQUIRE(hip::encode_tiled(params.conv.maps.w, 2, 4, view.data, modes.extents, modes.strides, box));
    } else {
        REQUIRE(hip::detail::encode_taps(params.conv.maps.w, view));
    }
    run_blocks<DumpStages>(device, params);
    auto const found = out.values();
    int wrong = 0, stage = 0;
    for (int tile = 0; tile < tiles_of_pixels * columns; ++tile) {
        int const first = tile % columns * 128 + own;
        if (first >= k) continue;
        for (int i = 0; i < blocks * of_block; ++i, ++stage)
            for (int row = 0; row < 64; ++row)
                for (int e = 0; e < (channels_last ? 64 : 72); ++e) {
                    int const channel = i / of_block * 64 + (channels_last ? e : i % of_block * 8 + e / 9),
                              tap = channels_last ? i % of_block : e % 9,
                              at = channels_last ? row * 128 + ((e / 8) ^ (row % 8)) * 16 + e % 8 * 2
                                                 : row * 144 + e * 2;
                    fk::half value;
                    std::memcpy(&value, &found[static_cast<std::size_t>(stage * Filters::stage_bytes + at)], 2);
                    wrong += static_cast<float>(value) !=
                             (first + row < k && channel < c ? number(first + row, channel, tap / 3, tap % 3) : 0);
                }
    }
    CAPTURE(c, k, channels_last, own);
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("HIP: filters of planes are loaded tap by tap, or all taps of 8 channels, in the order in which MMAs read") {
    for (bool const channels_last : {true, false})
        for (int const own : {0, 64}) {
            check(72, 136, channels_last, own);
            check(64, 72, channels_last, own);
        }
}
