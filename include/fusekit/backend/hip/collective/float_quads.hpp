// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/collective/quad_of_pixels.hpp"
#include "fusekit/backend/hip/collective/quad_tile.hpp"

namespace fusekit::hip {

/// QuadsUnderTaps of floats, which are stored as they are loaded. A quad that reaches into padding beside x is loaded
/// further inside, stored as much further in its QuadTile, and zeros before or behind it. A thread has one tap, and so
/// does this with all of its quads.
template <int Size, int threads, bool padded, class Order>
class FloatQuads : public QuadOfPixels<float, Size, Order::tile_k, threads> {
    using Base = QuadOfPixels<float, Size, Order::tile_k, threads>;
    using Base::buffer, Base::first, Base::invalid, Base::k, Base::own_k, Base::place, Base::row;
    static constexpr int outside = padded ? Order::most_outside() : 0;

public:
    using Tile = QuadTile<Size, Order::tile_k, outside>;

    using Base::Base;

    /// Takes the offsets of a step.
    template <class Offsets>
    __device__ void find(Offsets const& offsets) {
#pragma unroll
        for (int i = 0; i < own_k; ++i) {
            unsigned const at = index(i);
            own[i] = first + offsets.bytes[padded ? static_cast<unsigned>(place) : 0][at];
            if constexpr (padded) own[i] |= Offsets::rows_outside(offsets.masks[at], invalid);
        }
        if constexpr (outside > 0) moved = static_cast<int>(*offsets.selectors_at(place, k));
    }
    /// Loads that step, or one whose channels lie `further` bytes on.
    __device__ void load(std::uint32_t further) {
#pragma unroll
        for (int i = 0; i < own_k; ++i) quads[i] = buffer.template load<Words<4>>(own[i], further);
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
    /// The j-th pixel in padding, or its last one where there are fewer; a word that nobody reads where there is none.
    __device__ int in_padding(int j) const {
        if (moved > 0) return j < moved ? j : moved - 1;
        if (moved < 0) return j < -moved ? 3 - j : 4 + moved;
        return -1;
    }
};

}  // namespace fusekit::hip
