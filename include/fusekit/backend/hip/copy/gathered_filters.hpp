// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/async_copy.hpp"
#include "fusekit/backend/hip/gather_tiles.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::hip {

/// Asynchronous copies of KCRS filters to a stage of GatheredPlanes: all taps of some channels of a tile's filters, in
/// chunks of 16 bytes. Rows past the last filter and chunks past the last channel become zero. cp.async is used rather
/// than TMA, which takes 7.6 cycles on an H200 for each row of 144 bytes.
template <class T, int threads>
class GatheredFilters {
    static constexpr int packet = 16 / static_cast<int>(sizeof(T));

public:
    __device__ GatheredFilters(TensorView<T const> const& the_w, GatherTiles const& the_tiles, unsigned the_thread)
        : w(the_w), tiles(the_tiles), thread(the_thread) {}

    /// Issues the thread's copies of filters `first` on, channels `c` on.
    __device__ void copy(int first, int c, unsigned char* to) const {
        int const filters = static_cast<int>(w.layout.shape[0]) - first,
                  elements = (static_cast<int>(w.layout.shape[1]) - c) * tiles.all_taps;
        unsigned const chunks = static_cast<unsigned>(tiles.tile_filters()) * tiles.filter_chunks.value();
        T const* const from = w.data + first * w.layout.stride[0] + std::int64_t{c} * tiles.all_taps;
#pragma unroll 2
        for (unsigned i = thread; i < chunks; i += threads) {
            unsigned const filter = tiles.filter_chunks.divide(i), chunk = i - filter * tiles.filter_chunks.value();
            bool const exists = static_cast<int>(filter) < filters && static_cast<int>(chunk) * packet < elements;
            copy_async<16>(to + static_cast<int>(filter) * tiles.filter_pitch() + chunk * 16,
                           exists ? from + filter * w.layout.stride[0] + chunk * packet : w.data, exists);
        }
    }

private:
    TensorView<T const> const& w;
    GatherTiles const& tiles;
    unsigned thread;
};

}  // namespace fusekit::hip
