// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/pair_tile.hpp"
#include "fusekit/backend/hip/collective/load_quads.hpp"

namespace fusekit::hip {

/// Quads whose taps stay the same from step to step, for TapOperands.
template <Element T, int Size, int threads, bool padded, class Order>
class QuadsUnderTaps : public QuadsAlongRows<T, Size, Order::tile_k, threads, padded> {
    using Base = QuadsAlongRows<T, Size, Order::tile_k, threads, padded>;

public:
    using Base::Base;

    /// Takes the offsets of a step.
    template <class Offsets>
    __device__ void find(Offsets const& offsets) {
        Base::find(offsets, 0, [&](int i, std::uint32_t from) { own[i] = from; });
    }
    /// Loads that step, or one whose channels lie `further` bytes on.
    __device__ void load(std::uint32_t further) {
#pragma unroll
        for (int i = 0; i < Base::own_k; ++i) Base::load(i, own[i], further);
    }

private:
    std::uint32_t own[Base::own_k];
};

/// The same in pairs of pixels. Of bytes, one permutation makes a word of two indices of GemmK of two pixels.
template <Element T, int Size, int threads, bool padded, class Order>
class PairsUnderTaps : public QuadsUnderTaps<T, Size, threads, padded, Order> {
    using Base = QuadsUnderTaps<T, Size, threads, padded, Order>;
    using Base::k, Base::own_k, Base::row;
    static constexpr int per_chunk = 8 / static_cast<int>(sizeof(T));  ///< indices of two pixels
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
