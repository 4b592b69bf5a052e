// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"

namespace fusekit::hip {

/// One operand tile (TileK, Size) in shared memory, K-major: Size rows, pixels or channels, are contiguous at each
/// index of GemmK, so that a thread reads several rows as one vector.
template <class TheOperand, int Size, int TileK>
class KMajorTile {
public:
    using Operand = TheOperand;
    static constexpr bool rows_neighbour = true;
    static constexpr int pad = 4;  ///< operands of padding: columns that are stored at once fall into different banks
    static constexpr int k_step = Size + pad;  ///< operands from one index of GemmK to the next

    __device__ Operand* at(unsigned k, unsigned row) { return &values[k][row]; }
    __device__ Operand const* at(unsigned k, unsigned row) const { return &values[k][row]; }

    /// Stores `Count` consecutive k of one row from `k` on; operand(i) is element i.
    template <int Count, class OperandAt>
    __device__ void put_along_k(unsigned k, unsigned row, OperandAt operand) {
#pragma unroll
        for (int i = 0; i < Count; ++i) values[k + static_cast<unsigned>(i)][row] = operand(i);
    }
    /// Stores `Count` rows at index k; `row` is a multiple of Count.
    template <int Count>
    __device__ void put_along_rows(unsigned k, unsigned row, Packet<Operand, Count> const& operands) {
        *reinterpret_cast<Packet<Operand, Count>*>(&values[k][row]) = operands;
    }

private:
    alignas(16) Operand values[TileK][Size + pad];
};

}  // namespace fusekit::hip
