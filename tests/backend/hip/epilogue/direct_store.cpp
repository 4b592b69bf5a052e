// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/epilogue/direct_store.hpp"

#include "backend/hip/blocks.hpp"

using namespace test;
using fk::detail::Axis;

namespace {

/// Atom without products: a thread has every 64th accumulator of a tile; each round puts every second row.
struct Scattered {
    static constexpr int tile_m = 64, tile_n = 32, threads = 64, rounds = 2;
    struct Fragment {
        float sums[tile_m * tile_n / threads];
    };

    unsigned thread;

    static constexpr int rows(bool rows_are_pixels) { return (rows_are_pixels ? tile_m : tile_n) / rounds; }
    static constexpr int columns(bool rows_are_pixels) { return rows_are_pixels ? tile_n : tile_m; }

    /// Pixel and channel of a thread's i-th accumulator.
    __device__ unsigned pixel(unsigned i) const { return (thread + threads * i) / tile_n; }
    __device__ unsigned channel(unsigned i) const { return (thread + threads * i) % tile_n; }

    template <bool rows_are_pixels, int Pitch>
    __device__ void put(int round, Fragment const& fragment, fk::hip::Packet<float, 4> (*out)[Pitch]) const {
        for (unsigned i = 0; i < tile_m * tile_n / threads; ++i) {
            unsigned const row = rows_are_pixels ? pixel(i) : channel(i),
                           column = rows_are_pixels ? channel(i) : pixel(i);
            if (row % rounds == static_cast<unsigned>(round))
                out[row / rounds]->values[tile_column(column)] = fragment.sums[i];
        }
    }
    template <bool>
    __device__ static unsigned tile_row(unsigned row, int round) {
        return row * rounds + static_cast<unsigned>(round);
    }
    __device__ static constexpr unsigned tile_column(unsigned column) { return column ^ 3; }
};

/// Value of the accumulator of a pixel and a channel, over all groups.
__host__ __device__ float sum_at(int m, int k) { return static_cast<float>((m * 7 + k * 5) % 64 - 20); }

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

using Bias = fk::Plan<fk::Conv<fk::filter(1, 1).groups(2)>, fk::Bias, fk::Activation<fk::Relu>>;
using Pooled = fk::Plan<fk::Conv<fk::filter(1, 1).groups(2)>, fk::Bias, fk::Pool<fk::Max, 2, 2>>;

/// 3 images of 2 groups of 20 channels, 4 x 18: neither pixels nor channels fill whole tiles.
constexpr int n = 3, k = 40, p = 4, q = 18, tiles = (n * p * q + 63) / 64 * 2;

float bias_of(int channel) { return static_cast<float>(channel % 9 - 4); }

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

float activated(int image, int channel, int row, int column) {
    float const value = sum_at((image * p + row) * q + column, channel) + bias_of(channel);
    return value > 0 ? value : 0;
}

/// All elements in the memory order of `layout`.
std::vector<float> expected_values(fk::Layout<4> layout, auto value) {
    std::vector<float> all(static_cast<std::size_t>(layout.size()));
    auto const& shape = layout.shape;
    for (int i = 0; i < shape[0]; ++i)
        for (int c = 0; c < shape[1]; ++c)
            for (int r = 0; r < shape[2]; ++r)
                for (int s = 0; s < shape[3]; ++s)
                    all[static_cast<std::size_t>(layout.offset({{i, c, r, s}}))] = value(i, c, r, s);
    return all;
}

}  // namespace

TEST_CASE("HIP: StoreTile applies the epilogue and stores each accumulator of any atom at its coordinate") {
    fk::hip::Device device = gpu();
    CHECK(stored<Bias, Axis::pixel>(device, fk::nchw(n, k, p, q), fk::Activation<fk::Relu>::Args{}) ==
          expected_values(fk::nchw(n, k, p, q), activated));
    CHECK(stored<Bias, Axis::channel>(device, fk::nhwc(n, p, q, k), fk::Activation<fk::Relu>::Args{}) ==
          expected_values(fk::nhwc(n, p, q, k), activated));
}

TEST_CASE("HIP: StoreTile pools 2x2 windows of accumulators of any atom") {
    fk::hip::Device device = gpu();
    // Pixels are numbered window by window: number m is pixel m % 4 of window m / 4.
    auto const most = [](int image, int channel, int row, int column) {
        int const window = (image * (p / 2) + row) * (q / 2) + column;
        float result = -1000;
        for (int pixel = 0; pixel < 4; ++pixel) {
            float const value = sum_at(4 * window + pixel, channel) + bias_of(channel);
            if (value > result) result = value;
        }
        return result;
    };
    fk::Layout<4> const nchw = fk::nchw(n, k, p / 2, q / 2), nhwc = fk::nhwc(n, p / 2, q / 2, k);
    CHECK(stored<Pooled, Axis::pixel>(device, nchw, fk::Pool<fk::Max, 2, 2>::Args{}) == expected_values(nchw, most));
    CHECK(stored<Pooled, Axis::channel>(device, nhwc, fk::Pool<fk::Max, 2, 2>::Args{}) == expected_values(nhwc, most));
}
