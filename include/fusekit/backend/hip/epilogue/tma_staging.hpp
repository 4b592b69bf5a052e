// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/sm90a.hpp"

namespace fusekit::hip {

/// Protocol of a warpgroup's SMEM staging buffer for an output tile. If `loads`, TMA loads the tile of a tensor that an
/// operator reads into the buffer; the warpgroup overwrites it with its results; TMA stores these to y, omitting
/// elements out of bounds. `Shared` has the buffer, `staged[box]`, and the mbarrier `read_full`; `barrier` is the
/// number of a named barrier of the warpgroup's `threads` threads.
template <bool loads, unsigned threads>
struct TmaStaging {
    /// Initializes the mbarrier `read_full`. One thread calls it before the CTA's other threads use the mbarrier.
    template <class Shared>
    __device__ static void init(Shared& shared) {
        if constexpr (loads) ptx::mbarrier_init(ptx::shared_address(&shared.read_full), 1);
    }

    /// Waits until the buffer may be overwritten, arrives on the mbarrier `read_full`, expecting the bytes of the
    /// operator's tile, and returns the mbarrier's shared-memory address. Called by the thread that then issues the TMA
    /// load of the tile.
    template <class Shared>
    __device__ static std::uint32_t begin_read(Shared& shared) {
        ptx::bulk_wait_group_read();  // the TMA store of the previous tile has read the buffer
        auto const full = ptx::shared_address(&shared.read_full);
        ptx::mbarrier_arrive_expect_tx(full, sizeof(shared.staged));
        return full;
    }

    /// Waits until the threads may store results to the buffer: until the load of the operator's tile completes phase
    /// `parity` of `read_full` or, without `loads`, until the previous TMA store has read the buffer. With `syncs`,
    /// also synchronizes the warpgroup, so that earlier SMEM stores of its threads are visible.
    template <bool syncs = false, class Shared>
    __device__ static void acquire(Shared& shared, unsigned thread, unsigned barrier, unsigned parity) {
        if constexpr (loads) ptx::mbarrier_wait(ptx::shared_address(&shared.read_full), parity);
        else if (thread == 0) ptx::bulk_wait_group_read();  // the TMA store of the previous tile has read the buffer
        if constexpr (!loads || syncs) ptx::bar_sync(barrier, threads);
    }

    /// Makes the results that all the warpgroup's threads have stored to the buffer visible to a TMA store that one of
    /// the threads issues. All threads of the warpgroup call it.
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
