// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"

namespace fusekit::hip {

/// Operand tile (Size rows, TILE_K indices of GemmK) in shared memory, for lanes that read 16 bytes of a row at once; a
/// row has 32, 64 or 128 bytes. Its 16-byte chunks are swizzled, with a new permutation every 128 bytes: the lanes that
/// AMD's ds_read_b128 serves in one cycle read different banks. NVIDIA's ld.shared serves eight lanes at once, which
/// read 128 consecutive bytes.
template <class T, int Size, int RowBytes>
class RowTile {
public:
    using Operand = T;
    static constexpr bool contiguous_rows = false, takes_words = true;
    static constexpr int row_bytes = RowBytes, tile_k = row_bytes / static_cast<int>(sizeof(T));

    __device__ T* at(unsigned k, unsigned row) { return reinterpret_cast<T*>(bytes) + element_index(k, row); }
    __device__ T const* at(unsigned k, unsigned row) const {
        return reinterpret_cast<T const*>(bytes) + element_index(k, row);
    }

    /// Reads 16-byte chunk number `chunk` of row `row`.
    __device__ Words<4> read(unsigned chunk, unsigned row) const { return read_words(at(chunk * per_chunk, row)); }

    /// Stores 16 bytes of row `row`, from index k of the k-tile on. Precondition: k is a multiple of the number of
    /// elements in 16 bytes.
    __device__ void put_words(unsigned k, unsigned row, Words<4> const& words) {
        __builtin_memcpy(__builtin_assume_aligned(static_cast<void*>(at(k, row)), 16), &words, sizeof words);
    }
    /// Stores the elements of row `row` (a pixel or an output channel of the tile) at indices k to k + Count - 1 of the
    /// k-tile, k a multiple of Count; operand(i) returns element k + i.
    template <int Count, class OperandAt>
    __device__ void put_along_k(unsigned k, unsigned row, OperandAt operand) {
        constexpr int per_packet = Count < static_cast<int>(per_chunk) ? Count : static_cast<int>(per_chunk);
#pragma unroll
        for (int first = 0; first < Count; first += per_packet) {
            Packet<T, per_packet> packet;
#pragma unroll
            for (int i = 0; i < per_packet; ++i) packet.values[i] = operand(first + i);
            *reinterpret_cast<Packet<T, per_packet>*>(at(k + static_cast<unsigned>(first), row)) = packet;
        }
    }
    /// Stores the elements of rows `row` to `row` + Count - 1 at index k of the k-tile.
    template <int Count>
    __device__ void put_along_rows(unsigned k, unsigned row, Packet<T, Count> const& operands) {
#pragma unroll
        for (int i = 0; i < Count; ++i) *at(k, row + static_cast<unsigned>(i)) = operands.values[i];
    }

    /// Returns the offset in the tile, in elements, of row `row`'s element at index k of the k-tile, after the swizzle.
    FUSEKIT_HD static constexpr unsigned element_index(unsigned k, unsigned row) {
        return row * tile_k + (k ^ row / rows_of_order % chunks * per_chunk);
    }

private:
    static constexpr unsigned per_chunk = 16 / sizeof(T), chunks = row_bytes / 16, rows_of_order = 8 / chunks;
    alignas(16) unsigned char bytes[Size * row_bytes];  // raw bytes: an array of T would run T's constructors
};

}  // namespace fusekit::hip
