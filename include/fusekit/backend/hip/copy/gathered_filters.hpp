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
        int const chunks = static_cast<int>(tiles.filter_chunks.value()), pitch = tiles.filter_pitch(),
                  filters_of_step = static_cast<int>(tiles.filter_chunks.divide(threads)),
                  chunks_of_step = threads - filters_of_step * chunks;
        std::int64_t const stride = w.layout.stride[0];
        auto filter = static_cast<int>(tiles.filter_chunks.divide(thread)),
             chunk = static_cast<int>(thread) - filter * chunks;
        T const* from = w.data + (first + filter) * stride + std::int64_t{c} * tiles.all_taps + chunk * packet;
        to += filter * pitch + chunk * 16;
#pragma unroll 1
        while (filter < tiles.tile_filters()) {
            bool const exists = filter < filters && chunk * packet < elements;
            copy_async<16>(to, exists ? from : w.data, exists);
            filter += filters_of_step, chunk += chunks_of_step;
            from += filters_of_step * stride + chunks_of_step * packet;
            to += filters_of_step * pitch + chunks_of_step * 16;
            if (chunk < chunks) continue;
            ++filter, chunk -= chunks;
            from += stride - chunks * packet, to += pitch - chunks * 16;
        }
    }

private:
    TensorView<T const> const& w;
    GatherTiles const& tiles;
    unsigned thread;
};

}  // namespace fusekit::hip
