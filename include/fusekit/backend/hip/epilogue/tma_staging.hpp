// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/sm90a.hpp"

namespace fusekit::hip {

/// A warpgroup's SMEM staging buffer of a tile of y: if `loads`, TMA loads the tile of a tensor that an operator reads
/// into it; the warpgroup writes its results over it; TMA stores these to y, except elements out of bounds. `Shared`
/// has the buffer, `staged[box]`, and the mbarrier `read_full`; `barrier` is the number of the named barrier of the
/// warpgroup's `threads`.
template <bool loads, unsigned threads>
struct TmaStaging {
    /// Called by one thread before other threads use the barrier.
    template <class Shared>
    __device__ static void init(Shared& shared) {
        if constexpr (loads) ptx::mbarrier_init(ptx::shared_address(&shared.read_full), 1);
    }

    /// Called by the thread that then issues the TMA load of the operator's tile: waits until the buffer may be
    /// overwritten, expects the load's bytes, and returns the address of the mbarrier.
    template <class Shared>
    __device__ static std::uint32_t begin_read(Shared& shared) {
        ptx::bulk_wait_group_read();  // the last tile's store has read the buffer
        auto const full = ptx::shared_address(&shared.read_full);
        ptx::mbarrier_arrive_expect_tx(full, sizeof(shared.staged));
        return full;
    }

    /// Waits for the load of the operator's tile in the mbarrier's phase `parity`, or, without loads, until the buffer
    /// may be written. With `syncs`, threads also wait for what the warpgroup's other threads wrote to shared memory
    /// before.
    template <bool syncs = false, class Shared>
    __device__ static void acquire(Shared& shared, unsigned thread, unsigned barrier, unsigned parity) {
        if constexpr (loads) ptx::mbarrier_wait(ptx::shared_address(&shared.read_full), parity);
        else if (thread == 0) ptx::bulk_wait_group_read();  // the previous tile's TMA store has read the buffer
        if constexpr (!loads || syncs) ptx::bar_sync(barrier, threads);
    }

    /// Makes the results that the warpgroup has written to the buffer visible to TMA stores that one thread issues.
    __device__ static void publish(unsigned barrier) {
        ptx::fence_proxy_async();
        ptx::bar_sync(barrier, threads);
    }

    template <class Shared>
    __device__ static std::uint32_t address(Shared& shared, int box) {
        return ptx::shared_address(shared.staged[box]);
    }
};

}  // namespace fusekit::hip
