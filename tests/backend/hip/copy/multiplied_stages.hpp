// SPDX-License-Identifier: MIT
#pragma once

#include "backend/hip/blocks.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "fusekit/backend/hip/copy/tma_im2col.hpp"

namespace test {

/// Element of a K-major operand: rows of 128 bytes along GemmK with the 128-byte swizzle.
__device__ inline float k_major(fk::half const* tile, int row, int k) {
    return static_cast<float>(tile[row * 64 + ((k / 8) ^ (row % 8)) * 8 + k % 8]);
}
/// Element of an MN-major operand: for each 64 rows, 64 lines of 128 bytes, one per index k.
__device__ inline float mn_major(fk::half const* tile, int row, int k) {
    return static_cast<float>(tile[row / 64 * 4096 + k * 64 + ((row % 64 / 8) ^ (k % 8)) * 8 + row % 8]);
}

/// Distance of the filters of a tile whose sums are computed.
inline constexpr int every_filter = 7;

/// One thread loads the k-tiles of all tiles of y by Producer, through a ring of two stages; a warp adds the products
/// of each stage to out[pixel][channel], which does not depend on the order of GemmK.
///
/// Producer has tiles(params, conv), the number of tiles; a type Tile; load(params, conv, stages, pipeline, state, i)
/// for tile i; and steps(params, conv, i), start(params, conv, i), and pixel(params, conv, i, m), the index among y's
/// pixels of row m of the tile, or -1.
template <class Plan, int TileM, int TileN, class Producer>
struct MultiplyStages : BlockOf<64> {
    static constexpr bool reads_argument_in_place = true;
    using Architecture = fk::hip::arch::Sm90a;
    using Stage =
        fk::hip::BulkStage<fk::half, TileM, TileN,
                           fk::hip::has_transposed_conv<Plan> ? fk::hip::ptx::Major::mn : fk::hip::ptx::Major::k>;
    static_assert(Stage::tile_k == 64);
    using Pipeline = fk::hip::TmaPipeline<2, 1>;
    struct Params {
        fk::hip::ConvParams<Plan, fk::half> conv;
        float* out;
    };
    struct DynamicShared {
        Stage stages[2];
        Pipeline pipeline;
    };

    __device__ static void run(Params const& params, DynamicShared& shared, unsigned thread, unsigned) {
        if (thread == 0) shared.pipeline.init();
        __syncthreads();
        auto const conv = params.conv.problem();
        typename Pipeline::State state;
        auto const k = static_cast<int>(params.conv.y.layout.shape[1]);
        for (unsigned i = 0; i < Producer::tiles(params.conv, conv); ++i) {
            if (thread == 0) Producer::load(params.conv, conv, shared.stages, shared.pipeline, state, i);
            if (thread < 32) continue;
            fk::hip::TileStart const at = Producer::start(params.conv, conv, i);
            for (unsigned step = 0; step < Producer::steps(params.conv, conv, i); ++step, state.advance()) {
                shared.pipeline.consumer_wait(state);
                Stage const& stage = shared.stages[state.stage];
                for (int m = static_cast<int>(thread % 32); m < TileM; m += 32) {
                    int const pixel = Producer::pixel(params.conv, conv, i, m);
                    for (int n = 0; n < TileN && pixel >= 0 && at.n + n < k; n += every_filter) {
                        float sum = 0;
                        for (int c = 0; c < Stage::tile_k; ++c)
                            sum += k_major(stage.x, m, c) * (Stage::major == fk::hip::ptx::Major::mn
                                                                 ? mn_major(stage.w, n, c)
                                                                 : k_major(stage.w, n, c));
                        params.out[pixel * k + at.n + n] += sum;
                    }
                }
                fk::hip::ptx::bar_warp_sync();
                if (thread == 32) shared.pipeline.consumer_release(state.stage);
            }
        }
    }
};

/// Extents of x, and channels k of y.
struct StageExtents {
    int n, c, h, w, k;
};

/// Runs Body, a MultiplyStages, for a convolution or a transposed convolution of integers in channels-last tensors, and
/// compares the sums. encode(params, filters) sets the tensor maps.
template <class Body, class Plan>
void check_stages(StageExtents const& of, fk::Filter<2> const& filter, auto const& encode) {
    constexpr bool transposed = fk::hip::has_transposed_conv<Plan>;
    fk::hip::Device device = sm90a_device();
    int const r = filter.size[0], s = filter.size[1];
    auto const extent = [&](int in, int mode) {
        int const reach = (filter.size[mode] - 1) * filter.dilations[mode] + 1,
                  pads = filter.pad_before[mode] + filter.pad_after[mode], stride = filter.strides[mode];
        return transposed ? (in - 1) * stride + reach - pads : (in + pads - reach) / stride + 1;
    };
    int const p = extent(of.h, 0), q = extent(of.w, 1);
    fk::Layout<4> const of_x = fk::nhwc(of.n, of.h, of.w, of.c), of_y = fk::nhwc(of.n, p, q, of.k),
                        of_w = transposed ? fk::krsc(of.c, r, s, of.k) : fk::krsc(of.k, r, s, of.c);
    auto const number = [](std::int64_t i, int most) {
        return static_cast<float>((i * 11 + i / 13) % (2 * most + 1) - most);
    };
    std::vector<fk::half> x, w;
    for (std::int64_t i = 0; i < of_x.size(); ++i) x.push_back(fk::half(number(i, 3)));
    for (std::int64_t i = 0; i < of_w.size(); ++i) w.push_back(fk::half(number(i, 2)));
    Array<fk::half> const in_x(device, x), in_w(device, w),
        in_y(device, static_cast<std::size_t>(of_y.size()), fk::half(0.0f));
    Array<float> const out(device, static_cast<std::size_t>(of_y.size()), 0.0f);
    auto const bound = Plan::bind({fk::TensorView<fk::half const>(in_w.data(), of_w)});
    typename Body::Params params{{bound, {in_x.data(), of_x}, {in_y.data(), of_y}}, out.data()};
    REQUIRE(encode(params.conv, fk::detail::typed<fk::half>(Plan::Head::filters(params.conv.bound.head))));
    run_blocks<Body>(device, params);

    std::vector<float> expected(static_cast<std::size_t>(of_y.size()), 0.0f);
    auto const at = [](auto const& values, fk::Layout<4> const& layout, int a, int b, int c, int d) {
        return static_cast<float>(values[static_cast<std::size_t>(layout.offset({{a, b, c, d}}))]);
    };
    for (int n = 0; n < of.n; ++n)
        for (int i = 0; i < r * s; ++i)
            for (int to_p = 0; to_p < p; ++to_p)
                for (int to_q = 0; to_q < q; ++to_q) {
                    int h = to_p, column = to_q;
                    int const down = i / s * filter.dilations[0] - filter.pad_before[0],
                              right = i % s * filter.dilations[1] - filter.pad_before[1];
                    if (transposed) {
                        h -= down, column -= right;
                        if (h % filter.strides[0] != 0 || column % filter.strides[1] != 0) continue;
                        h /= filter.strides[0], column /= filter.strides[1];
                    } else {
                        h = h * filter.strides[0] + down, column = column * filter.strides[1] + right;
                    }
                    if (h < 0 || h >= of.h || column < 0 || column >= of.w) continue;
                    for (int k = 0; k < of.k; ++k)
                        for (int c = 0; c < of.c; ++c)
                            expected[static_cast<std::size_t>(of_y.offset({{n, k, to_p, to_q}}))] +=
                                at(x, of_x, n, c, h, column) *
                                (transposed ? at(w, of_w, c, k, i / s, i % s) : at(w, of_w, k, c, i / s, i % s));
                }
    auto const found = out.values();
    int wrong = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (static_cast<int>(i) % of.k % 64 % every_filter == 0) wrong += found[i] != expected[i];
    CAPTURE(of.n, of.c, of.h, of.w, of.k, r, s);
    CHECK(wrong == 0);
}

/// Producer of a tile's k-tiles by load_tile_in_bulk(); if `in_ranges`, in two ranges of k-tiles.
template <int TileM, int TileN, bool in_ranges>
struct WholeTiles {
    template <class Params, class Problem>
    __device__ static unsigned tiles(Params const&, Problem const& conv) {
        return static_cast<unsigned>((conv.gemm_m() + TileM - 1) / TileM * ((conv.group_k() + TileN - 1) / TileN));
    }
    template <class Params, class Problem>
    __device__ static fk::hip::TileStart start(Params const&, Problem const& conv, unsigned i) {
        int const columns = (conv.group_k() + TileN - 1) / TileN, number = static_cast<int>(i);
        return {number / columns * TileM, number % columns * TileN};
    }
    template <class Params, class Problem>
    __device__ static unsigned steps(Params const&, Problem const& conv, unsigned) {
        return static_cast<unsigned>(conv.taps() * ((conv.group_c() + 63) / 64));
    }
    template <class Params, class Problem>
    __device__ static int pixel(Params const& params, Problem const& conv, unsigned i, int m) {
        int const at = start(params, conv, i).m + m;
        return at < conv.gemm_m() ? at : -1;
    }
    template <class Params, class Problem, class Stages, class Pipeline, class State>
    __device__ static void load(Params const& params, Problem const& conv, Stages& stages, Pipeline& pipeline,
                                State& state, unsigned i) {
        fk::hip::TileStart const at = start(params, conv, i);
        if constexpr (in_ranges) {
            unsigned const all = steps(params, conv, i), half = all / 2;
            fk::hip::load_tile_in_bulk(params, conv, stages, pipeline, state, {}, at, 0u, half);
            fk::hip::load_tile_in_bulk(params, conv, stages, pipeline, state, {}, at, half, all);
        } else {
            fk::hip::load_tile_in_bulk(params, conv, stages, pipeline, state, {}, at);
        }
    }
};

/// Checks a convolution, or a transposed convolution with stride 1, with tiles of 64 pixels x TileN channels.
template <class Plan, int TileN, bool in_ranges = false>
void check_whole_tiles(StageExtents const& of, fk::Filter<2> const& filter) {
    using Body = MultiplyStages<Plan, 64, TileN, WholeTiles<64, TileN, in_ranges>>;
    check_stages<Body, Plan>(of, filter, [&](auto& params, auto const& w) {
        fk::Index<4> const& y = params.y.layout.shape;
        std::int64_t const pixels = y[0] * y[2] * y[3];
        return fk::hip::encode(params.maps, params.x, w, params.y,
                               fk::detail::window_filter(Plan::Head::geometry(params.bound.head)), TileN,
                               fk::hip::has_transposed_conv<Plan>, static_cast<int>(pixels < 64 ? pixels : 64), 64);
    });
}

}  // namespace test
