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
    constexpr int at_once = 4;  // loads in flight, of two vectors each
    using Vector = Packet<T, vector>;
#pragma unroll 1
    for (int first = static_cast<int>(thread); first < all; first += at_once * static_cast<int>(threads)) {
        Vector even[at_once], odd[at_once];
        int at[at_once];  // index in SMEM; negative out of bounds
#pragma unroll
        for (int j = 0; j < at_once; ++j) {
            int const i = first + j * static_cast<int>(threads), block = i / 32, down = block / across,
                      row = ((block - down * across) * of_row + i % of_row) * vector,
                      column = (down * of_column + i % 32 / of_row) * 2;
            bool const exists = row < rows && column < stored;
            auto const* const source =
                reinterpret_cast<Vector const*>(from + row * row_stride + column * column_stride);
            auto const* const next =
                reinterpret_cast<Vector const*>(from + row * row_stride + (column + 1) * column_stride);
            even[j] = load_if(exists && column < columns, source);
            odd[j] = load_if(exists && column + 1 < columns, next);
            at[j] = exists ? row * pitch + column : -1;
        }
#pragma unroll
        for (int j = 0; j < at_once; ++j) {
            if (at[j] < 0) continue;
#pragma unroll
            for (int e = 0; e < vector; ++e)
                *reinterpret_cast<Packet<T, 2>*>(to + at[j] + e * pitch) = {{even[j].values[e], odd[j].values[e]}};
        }
    }
}

}  // namespace fusekit::hip
