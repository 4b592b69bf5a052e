// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/pair_tile.hpp"
#include "fusekit/backend/hip/copy/amd/quad_loads.hpp"

namespace fusekit::hip {

/// Loader of x for TapOperands: QuadLoads whose offsets and selectors stay in registers for all k-tiles with the same
/// taps.
template <Element T, int Size, int threads, bool padded, class Order>
class TapQuads : public QuadLoads<T, Size, Order::tile_k, threads, padded> {
    using Base = QuadLoads<T, Size, Order::tile_k, threads, padded>;

public:
    using Base::Base;

    /// Reads from the LDS table the byte offsets and selectors of the thread's quads, for the k-tile that the table
    /// describes.
    template <class Offsets>
    __device__ void find(Offsets const& offsets) {
        Base::find(offsets, 0, [&](int i, std::uint32_t from) { own[i] = from; });
    }
    /// Loads the quads of the k-tile that find() located last, or of a later k-tile with the same taps whose channels
    /// are `soffset` bytes later in x.
    __device__ void load(std::uint32_t soffset) {
#pragma unroll
        for (int i = 0; i < Base::own_k; ++i) Base::load(i, own[i], soffset);
    }

private:
    std::uint32_t own[Base::own_k];
};

/// TapQuads that stores pixels in pairs (PairTile), for sparse MMAs. For one-byte elements, one v_perm_b32 gives a word
/// with two indices of GemmK of two pixels.
template <Element T, int Size, int threads, bool padded, class Order>
class TapPairs : public TapQuads<T, Size, threads, padded, Order> {
    using Base = TapQuads<T, Size, threads, padded, Order>;
    using Base::k, Base::own_k, Base::row;
    /// number of indices of GemmK in 16 bytes that hold two pixels
    static constexpr int per_chunk = 8 / static_cast<int>(sizeof(T));
    static_assert(own_k % per_chunk == 0);

public:
    using Tile = PairTile<T, Size, Order::tile_k* static_cast<int>(sizeof(T))>;

    using Base::Base;

    __device__ void store(Tile& tile) const {
#pragma unroll
        for (int pair = 0; pair < 2; ++pair)
#pragma unroll
            for (int first = 0; first < own_k; first += per_chunk) {
                Words<4> words;
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    if constexpr (sizeof(T) == 1) words[i] = Base::alternate(first + 2 * i, pair);
                    else words[i] = Base::selected(first + i, pair);
                }
                tile.put_words(2 * (k + static_cast<unsigned>(first)), row / 2 + static_cast<unsigned>(pair), words);
            }
    }
};

}  // namespace fusekit::hip
