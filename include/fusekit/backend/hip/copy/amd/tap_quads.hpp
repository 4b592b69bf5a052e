// SPDX-License-Identifier: MIT
#pragma once

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

}  // namespace fusekit::hip
