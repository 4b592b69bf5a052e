// SPDX-License-Identifier: MIT
#pragma once

#include "backend/hip/blocks.hpp"

namespace test {

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

}  // namespace test
