// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// Copies a matrix of 16-bit elements to SMEM rows, `pitch` elements apart: row i, column c from `from` + i row_stride
/// + c column_stride, for `columns` columns, and zeros in the others up to `stored`, an even number. Loads `vector`
/// elements at a time: with more than 1, row_stride is 1, and `rows`, column_stride and the address are multiples of
/// `vector` elements. A warp loads 4 vectors of 16 columns, so that it reads whole sectors of memory.
template <int vector, class T>
__device__ void copy_transposed_rows(T* to, int pitch, T const* from, int rows, int columns, int stored,
                                     std::int64_t row_stride, std::int64_t column_stride, unsigned thread,
                                     unsigned threads) {
    // vectors along the rows, and pairs of columns, that a warp copies at once
    constexpr int of_row = 4, of_column = 32 / of_row;
    int const pairs = stored / 2, across = divide_up_32(rows / vector, of_row),
              all = across * divide_up_32(pairs, of_column) * 32;
#pragma unroll 4
    for (int i = static_cast<int>(thread); i < all; i += static_cast<int>(threads)) {
        int const block = i / 32, down = block / across, row = ((block - down * across) * of_row + i % of_row) * vector,
                  column = (down * of_column + i % 32 / of_row) * 2;
        bool const exists = row < rows && column < stored;
        T const* const source = from + row * row_stride + column * column_stride;
        using From = Packet<T, vector> const*;
        auto const even = load_if(exists && column < columns, reinterpret_cast<From>(source)),
                   odd = load_if(exists && column + 1 < columns, reinterpret_cast<From>(source + column_stride));
        if (!exists) continue;
#pragma unroll
        for (int e = 0; e < vector; ++e)
            *reinterpret_cast<Packet<T, 2>*>(to + (row + e) * pitch + column) = {{even.values[e], odd.values[e]}};
    }
}

}  // namespace fusekit::hip
