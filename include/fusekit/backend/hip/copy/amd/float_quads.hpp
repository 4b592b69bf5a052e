// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/reload.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"
#include "fusekit/backend/hip/copy/amd/pixel_quad.hpp"

namespace fusekit::hip {

/// Operand tile (TileK, Size) of floats in LDS. The elements of four consecutive rows (pixels) at one index of GemmK
/// form a quad of 16 bytes. `Between` unused words separate quads, so that a quad may be stored up to `Between` words
/// before or after its position.
template <int Size, int TileK, int Between>
class QuadTile {
public:
    /// LDS address of the element of row `row` at index k of the k-tile. If `row` is a multiple of four, the elements
    /// of the quad's other three rows follow.
    __device__ std::uint32_t* at(unsigned k, unsigned row) { return words + element_index(k, row); }

    /// Reads the elements of row `row` at four consecutive indices of the k-tile, from 4 * `chunk` on.
    __device__ Words<4> read(unsigned chunk, unsigned row) const {
        auto const* const first = address_in_register(words + element_index(chunk * 4, row));
        Words<4> result;
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) result[static_cast<int>(i)] = first[i * pitch];
        return result;
    }

private:
    static constexpr unsigned quad = 4 + Between, pitch = Size / 4 * quad + Between;
    alignas(16) std::uint32_t words[TileK * pitch];

    __device__ static constexpr unsigned element_index(unsigned k, unsigned row) {
        return k * pitch + Between + row / 4 * quad + row % 4;
    }
};

/// Loader of float x in quads for TapOperands, like TapQuads but without a transposition. A quad is the elements of
/// four consecutive pixels of a row of y at one index of GemmK. A quad with columns in the padding left or right of x
/// is loaded from inside the row of x and stored to its QuadTile shifted by the number of padded columns; its padded
/// pixels are then zeroed. All quads of a thread have the same filter tap, hence the same shift.
template <int Size, int threads, bool padded, class Order>
class FloatQuads : public PixelQuad<float, Size, Order::tile_k, threads> {
    using Base = PixelQuad<float, Size, Order::tile_k, threads>;
    using Base::buffer, Base::first, Base::invalid, Base::k, Base::own_k, Base::position, Base::row;
    static constexpr int outside = padded ? Order::max_outside() : 0;

public:
    using Tile = QuadTile<Size, Order::tile_k, outside>;

    using Base::Base;

    /// Reads from the LDS table the byte offsets of the thread's quads for the k-tile that the table describes, and
    /// their shift.
    template <class Offsets>
    __device__ void find(Offsets const& offsets) {
#pragma unroll
        for (int i = 0; i < own_k; ++i) {
            unsigned const at = index(i);
            own[i] = first + offsets.bytes[padded ? static_cast<unsigned>(position) : 0][at];
            if constexpr (padded) own[i] |= Offsets::rows_outside(offsets.masks[at], invalid);
        }
        if constexpr (outside > 0) moved = static_cast<int>(*offsets.selectors_at(position, k));
    }
    /// Loads the quads of the k-tile that find() located last, or of a later k-tile with the same taps whose channels
    /// are `soffset` bytes later in x.
    __device__ void load(std::uint32_t soffset) {
#pragma unroll
        for (int i = 0; i < own_k; ++i) quads[i] = buffer.template load<Words<4>>(own[i], soffset);
    }
    __device__ void store(Tile& tile) const {
#pragma unroll
        for (int i = 0; i < own_k; ++i) {
            std::uint32_t* const to = tile.at(index(i), row);
            if constexpr (outside == 0) {
                __builtin_memcpy(__builtin_assume_aligned(to, 16), &quads[i], sizeof quads[i]);
            } else {
#pragma unroll
                for (int j = 0; j < 4; ++j) to[moved + j] = quads[i][j];
#pragma unroll
                for (int j = 0; j < outside; ++j) to[in_padding(j)] = 0;
            }
        }
    }

private:
    std::uint32_t own[own_k];
    int moved = 0;
    Words<4> quads[own_k];

    __device__ unsigned index(int i) const { return k + static_cast<unsigned>(4 * i); }
    /// Index, relative to the quad's first word in LDS, of the word to zero for the quad's j-th padded pixel. If at
    /// most j pixels are padded: the last padded one again or, without padding, an unused word before the quad.
    __device__ int in_padding(int j) const {
        if (moved > 0) return j < moved ? j : moved - 1;
        if (moved < 0) return j < -moved ? 3 - j : 4 + moved;
        return -1;
    }
};

}  // namespace fusekit::hip
