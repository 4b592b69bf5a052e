// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/sm90a.hpp"

namespace fusekit::hip {

/// Coordinates of a box of y in its tensor map.
template <int Rank>
struct TmaBox {
    std::int32_t at[Rank];
};
using BoxStart = TmaBox<4>;

/// A warpgroup's staging buffer of a tile of y: TMA loads an operator's tensor into it if `loads`, the warpgroup writes
/// results over it, TMA stores these to y and clips elements out of bounds. `Shared` has the buffer, `staged[boxes]`,
/// and the mbarrier `read_full`; `box(i)` is box i of the tile. All threads of the warpgroup call acquire(), publish()
/// and the rest; `barrier` is their named barrier.
template <bool loads, int boxes, unsigned threads>
struct TmaStaging {
    /// Called by one thread before other threads use the barrier.
    template <class Shared>
    __device__ static void init(Shared& shared) {
        if constexpr (loads) ptx::mbarrier_init(ptx::shared_address(&shared.read_full), 1);
    }

    /// Issues the load of an operator's tile, after the last tile's send(), while the tile's first MMAs run.
    template <class Params, class Shared, class Box>
    __device__ static void begin_read(Params const& params, Shared& shared, unsigned thread, Box const& box) {
        if constexpr (loads) {
            if (thread != 0) return;
            ptx::bulk_wait_group_read();  // the previous tile's TMA store has read the buffer
            auto const full = ptx::shared_address(&shared.read_full);
            ptx::mbarrier_arrive_expect_tx(full, sizeof(shared.staged));
            for (int i = 0; i < boxes; ++i) ptx::tma_load(address(shared, i), &params.read.map, full, box(i).at);
        }
    }

    /// Waits for the operator's tile of phase `parity`, or until the buffer may be written. `syncs`: threads also wait
    /// for what the others wrote to shared memory.
    template <bool syncs = false, class Shared>
    __device__ static void acquire(Shared& shared, unsigned thread, unsigned barrier, unsigned parity) {
        if constexpr (loads) ptx::mbarrier_wait(ptx::shared_address(&shared.read_full), parity);
        else if (thread == 0) ptx::bulk_wait_group_read();  // the previous tile's TMA store has read the buffer
        if constexpr (!loads || syncs) ptx::bar_sync(barrier, threads);
    }

    /// Makes the written results visible to TMA.
    __device__ static void publish(unsigned barrier) {
        ptx::fence_proxy_async();
        ptx::bar_sync(barrier, threads);
    }

    /// TMA-stores the published results.
    template <class Params, class Shared, class Box>
    __device__ static void send(Params const& params, Shared& shared, unsigned thread, Box const& box) {
        if (thread != 0) return;
        for (int i = 0; i < boxes; ++i) ptx::tma_store(&params.maps.y, address(shared, i), box(i).at);
        ptx::bulk_commit_group();
    }

    template <class Shared>
    __device__ static std::uint32_t address(Shared& shared, int i) {
        return ptx::shared_address(shared.staged[i]);
    }
};

}  // namespace fusekit::hip
