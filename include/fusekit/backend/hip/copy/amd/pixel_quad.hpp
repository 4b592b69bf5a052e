// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"

namespace fusekit::hip {

/// Position of a quad (four consecutive pixels) in its row of y: the quad's windows reach into the padding left of x,
/// into neither side, or into the padding right of x.
enum class QuadPosition { left, middle, right };

/// Base of the loaders of x for contiguous pixels (NCHW): which elements of the operand tile a thread loads. It has
/// four consecutive pixels of a row of y (a quad) at own_k indices of GemmK, a whole number of 32-bit words per pixel.
/// For floats, a thread's indices are four apart: the threads that load 16 bytes of a filter have the same tap, and
/// consecutive threads load consecutive quads.
template <Element T, int Size, int TileK, int threads>
class PixelQuad {
public:
    static constexpr int own_k = Size * TileK / threads / 4;  ///< indices of GemmK per thread

    template <class RowAt>
    __device__ PixelQuad(unsigned thread, RowAt row_at)
        : k(first_k(thread)),
          row(first_row(thread)),
          buffer(row_at(row).first),
          first(buffer.offset(row_at(row).first)),
          invalid(~row_at(row).valid),
          invalid_at_end(~row_at(row + 3).valid) {}

    /// Sets `position`, the position of the thread's four pixels in their row of y. `first_column` and `last_column`
    /// are the filter columns that read the leftmost and the rightmost column of x.
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
    /// first: byte offset of the window of the quad's first pixel. invalid, invalid_at_end: masks (KOffset) of the
    /// slices, rows and columns of the first pixel's and of the last pixel's window that are out of bounds of x
    std::uint32_t first, invalid, invalid_at_end;

    /// Stores the elements of each of the four pixels, at the thread's own_k indices of GemmK, to the operand tile.
    template <class Tile>
    __device__ void put(Tile& tile, Words<k_words> const (&pixels)[4]) const {
        static_assert(Tile::element_index(0, 1) == TileK);  // rows at constant distances: the compiler merges stores
#pragma unroll
        for (int pixel = 0; pixel < 4; ++pixel) {
            T* const to = tile.at(k, row + static_cast<unsigned>(pixel & 2)) + pixel % 2 * TileK;
            __builtin_memcpy(__builtin_assume_aligned(static_cast<void*>(to), 4 * k_words), &pixels[pixel],
                             sizeof pixels[pixel]);
        }
    }
};

}  // namespace fusekit::hip
