// SPDX-License-Identifier: MIT
#pragma once

#include "backend/hip/epilogue/scattered_atom.hpp"
#include "fusekit/backend/hip/epilogue/direct_store.hpp"

/// Tiles of accumulators whose values follow from their pixel and channel, and y as a writer must store it.
namespace test::store {

using fk::detail::Axis;

/// Value of the accumulator of a pixel and a channel, over all groups.
__host__ __device__ inline float sum_at(int m, int k) { return static_cast<float>((m * 7 + k * 5) % 64 - 20); }

/// Each CTA stores one tile of these accumulators.
template <class Plan, Axis fast>
struct StoreTiles : BlockOf<Scattered::threads> {
    using Writer = fk::hip::DirectStore<Plan, Scattered, fast>;
    using Params = fk::hip::ConvParams<Plan, float>;
    struct Shared {
        typename Writer::Buffer buffer;
        fk::hip::OutputTile<Plan, Scattered::tile_m, Scattered::tile_n> tile;
    };
    __device__ static void run(Params const& params, Shared& shared, unsigned thread, unsigned block) {
        auto const conv = params.problem();
        fk::hip::TileCoord<Scattered::tile_m, Scattered::tile_n> const coord(conv, block);
        shared.tile.template prepare<Scattered::threads>(conv, params.bound.epilogue, coord, thread);
        __syncthreads();
        Scattered const atom{thread};
        Scattered::Fragment fragment;
        for (unsigned i = 0; i < Scattered::tile_m * Scattered::tile_n / Scattered::threads; ++i)
            fragment.sums[i] = sum_at(coord.first_m + static_cast<int>(atom.pixel(i)),
                                      coord.first_k + static_cast<int>(atom.channel(i)));
        Writer::store(params, shared.buffer, shared.tile, coord, atom, fragment, thread);
    }
};

using Biased = fk::Plan<fk::Conv<fk::filter(1, 1).groups(2)>, fk::Bias, fk::Activation<fk::Relu>>;
using Pooled = fk::Plan<fk::Conv<fk::filter(1, 1).groups(2)>, fk::Bias, fk::Pool<fk::Max, 2, 2>>;

/// 3 images of 2 groups of 20 channels, 4 x 18: neither pixels nor channels fill whole tiles.
inline constexpr int n = 3, k = 40, p = 4, q = 18, tiles = (n * p * q + 63) / 64 * 2;

inline float bias_of(int channel) { return static_cast<float>(channel % 9 - 4); }

template <class Plan, Axis fast, class... Rest>
std::vector<float> stored(fk::hip::Device& device, fk::Layout<4> y, Rest... rest) {
    std::vector<float> biases;
    for (int channel = 0; channel < k; ++channel) biases.push_back(bias_of(channel));
    Array<float> const bias(device, biases), out(device, static_cast<std::size_t>(y.size()), -999),
        unused(device, 1, 0);
    fk::TensorView<float const> const x(unused.data(), fk::nchw(n, 2, p, q)), w(unused.data(), fk::kcrs(k, 1, 1, 1));
    auto const bound =
        Plan::bind({.weights = w}, {.bias = fk::TensorView<float const, 1>(bias.data(), fk::channels(k))}, rest...);
    run_blocks<StoreTiles<Plan, fast>>(device, {bound, x, {out.data(), y}, false, false, false, {}}, tiles);
    return out.values();
}

inline float activated(int image, int channel, int row, int column) {
    float const value = sum_at((image * p + row) * q + column, channel) + bias_of(channel);
    return value > 0 ? value : 0;
}

/// All elements in the memory order of `layout`.
inline std::vector<float> expected_values(fk::Layout<4> layout, auto value) {
    std::vector<float> all(static_cast<std::size_t>(layout.size()));
    auto const& shape = layout.shape;
    for (int i = 0; i < shape[0]; ++i)
        for (int c = 0; c < shape[1]; ++c)
            for (int r = 0; r < shape[2]; ++r)
                for (int s = 0; s < shape[3]; ++s)
                    all[static_cast<std::size_t>(layout.offset({{i, c, r, s}}))] = value(i, c, r, s);
    return all;
}

}  // namespace test::store
