// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/output_tile.hpp"

#include "backend/hip/epilogue/scattered_atom.hpp"

using namespace test;

namespace {

using Plan = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias>;
constexpr int n = 3, k = 21, p = 5, q = 7;

/// Number of a pixel and a channel, an exact float.
__host__ __device__ float number_of(unsigned m, unsigned channel) { return static_cast<float>(100 * m + channel); }

/// Transposes the accumulators of one tile through the buffer, and stores the offsets of its pixels.
template <bool rows_are_pixels>
struct TransposeNumbers : BlockOf<64> {
    using Transpose = fk::hip::TransposeTile<Scattered, rows_are_pixels>;
    struct Params {
        fk::hip::ConvParams<Plan, float> conv;
        float *tile, *by_quads;  // (tile_m, tile_n)
        std::int64_t* offsets;
        int* images;
    };
    struct Shared {
        typename Transpose::Buffer buffer;
        fk::hip::OutputTile<Plan, Scattered::tile_m, Scattered::tile_n> tile;
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        auto const conv = params.conv.problem();
        fk::hip::TileCoord<Scattered::tile_m, Scattered::tile_n> const coord(conv, block);
        shared.tile.template prepare<64>(conv, params.conv.bound.epilogue, coord, thread);
        __syncthreads();
        params.offsets[block * 64 + thread] = shared.tile.offsets[thread];
        params.images[block * 64 + thread] = shared.tile.pixels[thread].n;
        if (block > 0) return;
        Scattered const atom{thread};
        Scattered::Fragment fragment;
        for (unsigned i = 0; i < 32; ++i) fragment.sums[i] = number_of(atom.pixel(i), atom.channel(i));
        Transpose::run(shared.buffer, atom, fragment, [&](int round) {
            for (unsigned i = thread; i < Transpose::rows * Transpose::columns; i += 64) {
                unsigned const row = i / Transpose::columns, column = i % Transpose::columns,
                               of_tile = Transpose::tile_row(row, round), m = rows_are_pixels ? of_tile : column,
                               channel = rows_are_pixels ? column : of_tile;
                params.tile[m * Scattered::tile_n + channel] = shared.buffer.at(row, column);
                params.by_quads[m * Scattered::tile_n + channel] = shared.buffer.at(row, column / 4, column % 4);
            }
        });
    }
};

template <bool rows_are_pixels>
void check(fk::Layout<4> const& y) {
    using Body = TransposeNumbers<rows_are_pixels>;
    fk::hip::Device device = gpu();
    Array<float> const tile(device, 64 * 32, -1.0f), by_quads(device, 64 * 32, -1.0f), bias(device, k, 1.0f);
    Array<std::int64_t> const offsets(device, 128, std::int64_t{-7});
    Array<int> const images(device, 128, -7);
    auto const bound = Plan::bind({.weights = fk::TensorView<float const>(bias.data(), fk::kcrs(k, 1, 1, 1))},
                                  {.bias = fk::TensorView<float const, 1>(bias.data(), fk::channels(k))});
    fk::hip::ConvParams<Plan, float> const conv{
        bound, {bias.data(), fk::nchw(n, 1, p, q)}, {nullptr, y}, false, false, false, {}};
    run_blocks<Body>(device, {conv, tile.data(), by_quads.data(), offsets.data(), images.data()}, 2);
    std::vector<float> expected;
    for (unsigned m = 0; m < 64; ++m)
        for (unsigned channel = 0; channel < 32; ++channel) expected.push_back(number_of(m, channel));
    CHECK(tile.values() == expected);
    CHECK(by_quads.values() == expected);
    for (int m = 0; m < 128; ++m) {
        auto const i = static_cast<std::size_t>(m);
        CHECK(images.values()[i] == (m < n * p * q ? m / (p * q) : -1));
        if (m < n * p * q) CHECK(offsets.values()[i] == y.offset({{m / (p * q), 0, m / q % p, m % q}}));
    }
}

}  // namespace

TEST_CASE("HIP: an output tile knows the offsets of its pixels, and transposes the accumulators of any atom") {
    check<true>(fk::nhwc(n, p, q, k));
    check<false>(fk::nchw(n, k, p, q));
}
