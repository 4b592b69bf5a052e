// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "backend/hip/blocks.hpp"
#include "fusekit/backend/hip/atom/row_tile.hpp"

namespace test {

/// Atom with the operand layout of AMD's units and scalar products: tiles of 64 pixels x 64 filters, rows of 64 bytes
/// along GemmK.
template <class T>
struct ScalarAtom {
    static constexpr int tile_m = 64, tile_n = 64, tile_k = 64 / static_cast<int>(sizeof(T)), threads = 64, stages = 1;
    struct Stage {
        fk::hip::RowTile<T, tile_m, 64> x;
        fk::hip::RowTile<T, tile_n, 64> w;
    };
};

/// Loads all k-tiles of a tile of y by each of the Loaders, one after the other, and stores the sum of the products of
/// x and w: out[pixel][filter], which does not depend on the order of GemmK.
template <class Plan, class T, class... Loaders>
struct MultiplyOperands : BlockOf<64> {
    using Atom = ScalarAtom<T>;
    struct Params {
        fk::hip::ConvParams<Plan, T, float> conv;
        float* out;
    };
    struct Shared {
        fk::hip::Pixel pixels[64];
        alignas(16) unsigned char of_loaders[(std::max)({sizeof(typename Loaders::Shared)...})];
        alignas(16) unsigned char of_stages[(std::max)({sizeof(typename Loaders::Stage)...})];
    };

    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        auto const conv = params.conv.problem();
        fk::hip::TileCoord<64, 64> const coord(conv, block);
        shared.pixels[thread] = conv.pixel(coord.first_m + static_cast<int>(thread), coord.group);
        __syncthreads();
        float sums[64] = {};
        (add<Loaders>(params, conv, shared, coord, thread, sums), ...);
        int const filters = static_cast<int>(params.conv.y.layout.shape[1]),
                  m = coord.first_m + static_cast<int>(thread);
        if (m >= conv.gemm_m()) return;
        for (unsigned n = 0; n < coord.count_n; ++n)
            params.out[m * filters + coord.first_k + static_cast<int>(n)] = sums[n];
    }

private:
    template <class Loader, class Problem, class Coord>
    __device__ static void add(Params const& params, Problem const& conv, Shared& shared, Coord const& coord,
                               unsigned thread, float (&sums)[64]) {
        auto& stage = reinterpret_cast<typename Loader::Stage&>(shared.of_stages);
        Loader loader(params.conv, conv, reinterpret_cast<typename Loader::Shared&>(shared.of_loaders), shared.pixels,
                      coord, thread);
        int found = 0, i = 0;
        for (int step = 0; step < steps_of<Loader>(conv); ++step, ++i) {
            if (i == found) found = loader.find(step), i = 0;
            auto const position = loader.found(i * loader.stride());
            loader.start(position, stage);
            loader.finish(position, stage);
            __syncthreads();
            for (unsigned k = 0; k < Atom::tile_k; ++k)
                for (unsigned n = 0; n < 64; ++n)
                    sums[n] += value(stage.x.at(k, thread)) * static_cast<float>(*stage.w.at(k, n));
            __syncthreads();
        }
    }
    template <class Loader, class Problem>
    __device__ static int steps_of(Problem const& conv) {
        if constexpr (requires { Loader::steps(conv); }) return Loader::steps(conv);
        else return (conv.gemm_k() + Atom::tile_k - 1) / Atom::tile_k;
    }
    __device__ static float value(T const* at) { return static_cast<float>(*at); }
    __device__ static float value(std::uint32_t const* at) { return fk::config::bit_cast<float>(*at); }
};

/// Extents of a convolution: of one image x, and its batch n; filters k; `filter` with its groups.
struct OperandExtents {
    int n, c, h, w, k;
};

/// Runs MultiplyOperands for a convolution of integers, and compares all of its sums. x has layout `nchw` or nhwc, w
/// KCRS or KRSC.
template <class Plan, class T, class... Loaders>
void check_operands(OperandExtents const& of, fk::Filter<2> const& filter, bool nchw, auto const&... rest) {
    using Body = MultiplyOperands<Plan, T, Loaders...>;
    fk::hip::Device device = gpu();
    int const group_c = of.c / filter.group_count, group_k = of.k / filter.group_count, r = filter.size[0],
              s = filter.size[1];
    auto const extent = [&](int in, int mode) {
        return (in + filter.pad_before[mode] + filter.pad_after[mode] -
                (filter.size[mode] - 1) * filter.dilations[mode] - 1) /
                   filter.strides[mode] +
               1;
    };
    int const p = extent(of.h, 0), q = extent(of.w, 1);
    if (nchw) REQUIRE(q % 4 == 0);  // a quad's pixels are of one row
    fk::Layout<4> const x_layout = nchw ? fk::nchw(of.n, of.c, of.h, of.w) : fk::nhwc(of.n, of.h, of.w, of.c),
                        w_layout = nchw ? fk::kcrs(of.k, group_c, r, s) : fk::krsc(of.k, r, s, group_c);
    auto const number = [](std::int64_t i, int most) {
        return static_cast<float>((i * 11 + i / 13) % (2 * most + 1) - most);
    };
    std::vector<T> x, w;
    for (std::int64_t i = 0; i < x_layout.size(); ++i) x.push_back(T(number(i, 3)));
    for (std::int64_t i = 0; i < w_layout.size(); ++i) w.push_back(T(number(i, 2)));
    Array<T> const of_x(device, x), of_w(device, w);
    Array<float> const out(device, static_cast<std::size_t>(of.n * p * q * of.k), -999.0f);
    auto const bound = Plan::bind({fk::TensorView<T const>(of_w.data(), w_layout), rest...});
    fk::hip::ConvParams<Plan, T, float> conv{
        bound, {of_x.data(), x_layout}, {nullptr, fk::nhwc(of.n, p, q, of.k)}, !nchw};
    unsigned const tiles = static_cast<unsigned>((of.n * p * q + 63) / 64 * ((group_k + 63) / 64) * filter.group_count);
    run_blocks<Body>(device, {conv, out.data()}, tiles);

    std::vector<float> expected;
    for (int image = 0; image < of.n; ++image)
        for (int row = 0; row < p; ++row)
            for (int column = 0; column < q; ++column)
                for (int k = 0; k < of.k; ++k) {
                    float sum = 0;
                    for (int i = 0; i < r * s; ++i)
                        for (int c = 0; c < group_c; ++c) {
                            int const y = row * filter.strides[0] + i / s * filter.dilations[0] - filter.pad_before[0],
                                      z = column * filter.strides[1] + i % s * filter.dilations[1] -
                                          filter.pad_before[1];
                            if (y < 0 || y >= of.h || z < 0 || z >= of.w) continue;
                            auto const at = x_layout.offset({{image, k / group_k * group_c + c, y, z}}),
                                       weight = w_layout.offset({{k, c, i / s, i % s}});
                            sum += static_cast<float>(x[static_cast<std::size_t>(at)]) *
                                   static_cast<float>(w[static_cast<std::size_t>(weight)]);
                        }
                    expected.push_back(sum);
                }
    CAPTURE(of.n, of.c, of.h, of.w, of.k, filter.size[0], filter.size[1], nchw);
    CHECK(out.values() == expected);
}

}  // namespace test
