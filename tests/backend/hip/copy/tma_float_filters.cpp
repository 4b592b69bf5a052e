// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/tma_float_filters.hpp"

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "fusekit/backend/hip/plane_grid.hpp"

using namespace test;
namespace hip = fk::hip;

namespace {

using Plan = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>;
using Tiles = hip::PlaneTiles<128, float>;
using Grid = hip::PlaneGrid<Tiles, 1, 64>;

/// A warpgroup stores the fragments of all stages of its tiles: out[tile][block][filter][channel][tap].
template <bool contiguous_taps>
struct DumpFragments : BlockOf<128> {
    static constexpr bool reads_argument_in_place = true;
    using Architecture = hip::arch::Sm90a;
    using Filters = hip::FloatPlaneFilters<Grid, 4, contiguous_taps>;
    struct Params {
        hip::ConvParams<Plan, float> conv;
        bool has_more;  ///< true if contiguous taps have a second stage
        float* out;
    };
    struct alignas(1024) DynamicShared {
        unsigned char memory[Filters::bytes], more[Filters::bytes];
        hip::FloatPlaneFiltersState state;
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
        Filters filters(shared.memory, params.has_more ? shared.more : nullptr, shared.state, grid, 0);
        filters.fill(params.conv, conv, thread < 32);
        auto const filter = [&](unsigned word) { return thread / 32 * 16 + thread % 32 / 4 + word % 2 * 8; };
        for (int number = 0; number < static_cast<int>(grid.size()) * grid.channel_blocks(); ++number) {
            float* const out = params.out + number * 64 * 32 * 9;
            if constexpr (contiguous_taps) {
                for (unsigned slice = 0; slice < 2; ++slice) {
                    for (int row = 0; row < 3; ++row) {
                        float factors[3][8];
                        filters.load(factors, thread, row);
                        for (unsigned i = 0; i < 8; ++i)
                            for (unsigned s = 0; s < 3; ++s) {
                                unsigned const channel =
                                    16 * slice + (i / 4 * 2 + thread % 4 / 2) * 4 + thread % 2 * 2 + i % 2;
                                out[(filter(i / 2) * 32 + channel) * 9 + 3 * static_cast<unsigned>(row) + s] =
                                    factors[s][i];
                            }
                    }
                    filters.release(params.conv, conv);
                }
            } else {
                for (unsigned tap = 0; tap < 9; ++tap) {
                    float factors[2][8];
                    filters.load(factors, thread);
                    for (unsigned k = 0; k < 2; ++k)
                        for (unsigned i = 0; i < 8; ++i) {
                            unsigned const channel = (4 * k + i / 4 * 2 + thread % 4 / 2) * 4 + thread % 2 * 2 + i % 2;
                            out[(filter(i / 2) * 32 + channel) * 9 + tap] = factors[k][i];
                        }
                    filters.release(params.conv, conv);
                }
            }
        }
    }
};

template <bool contiguous_taps>
void check(int c, int k, bool has_more) {
    using Body = DumpFragments<contiguous_taps>;
    hip::Device device = sm90a_device();
    fk::Layout<4> const of_w = contiguous_taps ? fk::kcrs(k, c, 3, 3) : fk::krsc(k, 3, 3, c);
    auto const number = [](int a, int b, int tap) { return static_cast<float>((a * 31 + b * 17 + tap * 7) % 997 + 1); };
    std::vector<float> w(static_cast<std::size_t>(of_w.size()));
    for (int i = 0; i < k * c * 9; ++i)
        w[static_cast<std::size_t>(of_w.offset({{i / 9 / c, i / 9 % c, i % 9 / 3, i % 3}}))] =
            number(i / 9 / c, i / 9 % c, i % 9);
    int const columns = (k + 63) / 64, blocks = (c + 31) / 32, tiles = 2 * columns;
    Array<float> const of_memory(device, w), out(device, static_cast<std::size_t>(tiles * blocks * 64 * 32 * 9), -7.0f);
    fk::TensorView<float const> const view(of_memory.data(), of_w);
    auto const bound = Plan::bind({.weights = view});
    typename Body::Params params{
        {bound, {of_memory.data(), fk::nchw(2, c, 9, 12)}, {nullptr, fk::nchw(2, k, 9, 12)}}, has_more, out.data()};
    if constexpr (contiguous_taps) {
        REQUIRE(hip::detail::encode_taps(params.conv.maps.w, view));
    } else {
        hip::detail::MapModes<float const> const modes(view);
        std::uint32_t const box[] = {32, 1, 1, 64};
        REQUIRE(hip::encode_tiled(params.conv.maps.w, 4, 4, view.data, modes.extents, modes.strides, box));
    }
    REQUIRE(hip::kernel_of<Abs, Body>().is_launchable(device.gpu().index()));
    run_blocks<Body>(device, params);
    auto const found = out.values();
    int wrong = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        auto const at = static_cast<int>(i);
        int const tap = at % 9, channel = at / 9 % 32 + at / (64 * 32 * 9) % blocks * 32,
                  filter = at / (9 * 32) % 64 + at / (64 * 32 * 9) / blocks % columns * 64;
        wrong += found[i] != (filter < k && channel < c ? number(filter, channel, tap) : 0);
    }
    CAPTURE(c, k, contiguous_taps, has_more);
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("HIP: filters of floats are loaded as fragments, and each stage is refilled by the last warp that reads it") {
    check<false>(40, 72, false), check<false>(72, 64, false);
    for (bool const has_more : {false, true}) check<true>(40, 72, has_more), check<true>(64, 40, has_more);
}
