// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"

namespace fusekit::hip {

/// Operand tile (TileK, Size) in shared memory: at each index k, the elements of all Size rows (pixels of x, or output
/// channels of w) are contiguous, so that a thread reads several rows as one vector.
template <class TheOperand, int Size, int TileK>
class KMajorTile {
public:
    using Operand = TheOperand;
    static constexpr bool contiguous_rows = true;
    /// number of unused elements after the rows of each k, so that stores of one row at consecutive k are in different
    /// banks
    static constexpr int pad = 4;
    static constexpr int k_step = Size + pad;  ///< elements of the tile from index k to index k + 1

    __device__ Operand* at(unsigned k, unsigned row) { return &values[k][row]; }
    __device__ Operand const* at(unsigned k, unsigned row) const { return &values[k][row]; }

    /// Stores the elements of row `row` (a pixel or an output channel of the tile) at indices k to k + Count - 1 of the
    /// k-tile; operand(i) returns element k + i.
    template <int Count, class OperandAt>
    __device__ void put_along_k(unsigned k, unsigned row, OperandAt operand) {
#pragma unroll
        for (int i = 0; i < Count; ++i) values[k + static_cast<unsigned>(i)][row] = operand(i);
    }
    /// Stores the elements of rows `row` to `row` + Count - 1 at index k of the k-tile. Precondition: `row` is a
    /// multiple of Count.
    template <int Count>
    __device__ void put_along_rows(unsigned k, unsigned row, Packet<Operand, Count> const& operands) {
        *reinterpret_cast<Packet<Operand, Count>*>(&values[k][row]) = operands;
    }

private:
    alignas(16) Operand values[TileK][Size + pad];
};

}  // namespace fusekit::hip
