// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"

namespace fusekit::hip {

/// One operand of a step along GemmK in shared memory, for lanes that read 16 bytes of a row each: rows of 32, 64 or
/// 128 bytes. Their chunks of 16 bytes are swizzled so that the lanes that AMD's ds_read_b128 serves together find
/// theirs in different banks: every 128 bytes another order. NVIDIA's serves eight lanes together, which read 128 bytes
/// one after another.
template <class T, int Size, int RowBytes>
class RowTile {
public:
    using Operand = T;
    static constexpr bool rows_neighbour = false, takes_words = true;
    static constexpr int row_bytes = RowBytes, tile_k = row_bytes / static_cast<int>(sizeof(T));

    __device__ T* at(unsigned k, unsigned row) { return reinterpret_cast<T*>(bytes) + place(k, row); }
    __device__ T const* at(unsigned k, unsigned row) const { return reinterpret_cast<T const*>(bytes) + place(k, row); }

    /// Chunk number `chunk` of a row.
    __device__ Words<4> read(unsigned chunk, unsigned row) const { return read_words(at(chunk * per_chunk, row)); }

    /// Stores 16 bytes of a row, whose first index is a multiple of what they hold.
    __device__ void put_words(unsigned k, unsigned row, Words<4> const& words) {
        __builtin_memcpy(__builtin_assume_aligned(static_cast<void*>(at(k, row)), 16), &words, sizeof words);
    }
    /// Stores one row at `Count` indices from k on, a multiple of Count: operand(i) at the i-th.
    template <int Count, class OperandAt>
    __device__ void put_along_k(unsigned k, unsigned row, OperandAt operand) {
        constexpr int together = Count < static_cast<int>(per_chunk) ? Count : static_cast<int>(per_chunk);
#pragma unroll
        for (int first = 0; first < Count; first += together) {
            Packet<T, together> packet;
#pragma unroll
            for (int i = 0; i < together; ++i) packet.values[i] = operand(first + i);
            *reinterpret_cast<Packet<T, together>*>(at(k + static_cast<unsigned>(first), row)) = packet;
        }
    }
    /// Stores `Count` rows at index k.
    template <int Count>
    __device__ void put_along_rows(unsigned k, unsigned row, Packet<T, Count> const& operands) {
#pragma unroll
        for (int i = 0; i < Count; ++i) *at(k, row + static_cast<unsigned>(i)) = operands.values[i];
    }

    /// Where an index of a row is, in elements.
    FUSEKIT_HD static constexpr unsigned place(unsigned k, unsigned row) {
        return row * tile_k + (k ^ row / rows_of_order % chunks * per_chunk);
    }

private:
    static constexpr unsigned per_chunk = 16 / sizeof(T), chunks = row_bytes / 16, rows_of_order = 8 / chunks;
    alignas(16) unsigned char bytes[Size * row_bytes];  // no T, which would be constructed
};

}  // namespace fusekit::hip
