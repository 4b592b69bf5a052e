// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"

namespace fusekit::hip {

/// Where in a row of y a quad of pixels is: its windows have padding on the left, on neither side, or on the right.
enum class QuadPlace { left, middle, right };

/// A thread's share of x in a tile of AMD's matrix units, where pixels are neighbours: four pixels after one another in
/// a row of y, and as many indices of GemmK as make whole words of each pixel. Those of floats are four apart, so that
/// under 16 bytes of a filter they have one tap, and neighbouring threads have neighbouring quads.
template <Element T, int Size, int TileK, int threads>
class QuadOfPixels {
public:
    static constexpr int own_k = Size * TileK / threads / 4;  ///< indices of GemmK

    template <class RowAt>
    __device__ QuadOfPixels(unsigned thread, RowAt row_at)
        : k(first_k(thread)),
          row(first_row(thread)),
          buffer(row_at(row).first),
          first(buffer.offset(row_at(row).first)),
          invalid(~row_at(row).valid),
          invalid_at_end(~row_at(row + 3).valid) {}

    /// `first_column` and `last_column` are those of the window's taps.
    __device__ void find_place(int space, int first_column, int last_column) {
        if (invalid & KOffset::bit(space, space - 1, first_column)) place = QuadPlace::left;
        else if (invalid_at_end & KOffset::bit(space, space - 1, last_column)) place = QuadPlace::right;
    }

protected:
    static constexpr int groups = TileK / own_k, per_word = 4 / static_cast<int>(sizeof(T)), k_words = own_k / per_word;
    static constexpr bool is_word = sizeof(T) == 4;
    static_assert((is_word || own_k % 4 == 0) && groups * Size / 4 == threads);

    __device__ static unsigned first_k(unsigned thread) {
        if (!is_word) return thread % groups * own_k;
        unsigned const group = thread / (Size / 4);
        return group / 4 * 4 * own_k + group % 4;
    }
    __device__ static unsigned first_row(unsigned thread) {
        return (is_word ? thread % (Size / 4) : thread / groups) * 4;
    }

    unsigned k, row;
    QuadPlace place = QuadPlace::middle;
    Buffer buffer;
    std::uint32_t first, invalid, invalid_at_end;  ///< where the windows begin; the masks of the first and the last

    /// Stores the thread's indices of each pixel.
    template <class Tile>
    __device__ void put(Tile& tile, Words<k_words> const (&pixels)[4]) const {
        static_assert(Tile::place(0, 1) == TileK);  // rows in pairs have one order, and the compiler stores them so
#pragma unroll
        for (int pixel = 0; pixel < 4; ++pixel) {
            T* const to = tile.at(k, row + static_cast<unsigned>(pixel & 2)) + pixel % 2 * TileK;
            __builtin_memcpy(__builtin_assume_aligned(static_cast<void*>(to), 4 * k_words), &pixels[pixel],
                             sizeof pixels[pixel]);
        }
    }
};

}  // namespace fusekit::hip
