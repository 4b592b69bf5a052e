// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"

namespace fusekit::hip {

/// Position in its row of y of a quad, four consecutive pixels. left: the quad's windows may read padding left of x;
/// right: they may read padding right of x; middle: neither.
enum class QuadPosition { left, middle, right };

/// Base of the loaders of x for contiguous pixels (NCHW): defines the elements of the operand tile that a thread loads.
/// They are of four consecutive pixels of a row of y (a quad) at own_k indices of GemmK, a whole number of 32-bit words
/// per pixel. For floats, a thread's indices are four apart, so that threads that load 16 bytes of a filter have the
/// same tap; consecutive threads load consecutive quads.
template <Element T, int Size, int TileK, int threads>
class PixelQuad {
public:
    static constexpr int own_k = Size * TileK / threads / 4;  ///< number of indices of GemmK per thread

    template <class RowAt>
    __device__ PixelQuad(unsigned thread, RowAt row_at)
        : k(first_k(thread)),
          row(first_row(thread)),
          buffer(row_at(row).first),
          first(buffer.offset(row_at(row).first)),
          invalid(~row_at(row).valid),
          invalid_at_end(~row_at(row + 3).valid) {}

    /// Sets `position`, the position (left, middle or right) of the thread's quad in its row of y. `space`: number of
    /// spatial modes. `first_column` and `last_column`: the filter columns that read the leftmost and the rightmost
    /// column of x.
    __device__ void find_position(int space, int first_column, int last_column) {
        if (invalid & KOffset::bit(space, space - 1, first_column)) position = QuadPosition::left;
        else if (invalid_at_end & KOffset::bit(space, space - 1, last_column)) position = QuadPosition::right;
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
    QuadPosition position = QuadPosition::middle;
    Buffer buffer;
    /// first: byte offset in x of the window of the quad's first pixel. invalid: mask (KOffset) of the slices, rows and
    /// columns of that window that are out of bounds of x; invalid_at_end: the same mask for the window of the quad's
    /// last pixel
    std::uint32_t first, invalid, invalid_at_end;

    /// Stores the elements of the four pixels, at the thread's own_k indices of GemmK, to the operand tile in LDS.
    template <class Tile>
    __device__ void put(Tile& tile, Words<k_words> const (&pixels)[4]) const {
        // rows at compile-time distances: the compiler merges the stores
        static_assert(Tile::element_index(0, 1) == TileK);
#pragma unroll
        for (int pixel = 0; pixel < 4; ++pixel) {
            T* const to = tile.at(k, row + static_cast<unsigned>(pixel & 2)) + pixel % 2 * TileK;
            __builtin_memcpy(__builtin_assume_aligned(static_cast<void*>(to), 4 * k_words), &pixels[pixel],
                             sizeof pixels[pixel]);
        }
    }
};

}  // namespace fusekit::hip
