// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/sm90a.hpp"

namespace fusekit::hip {

/// The barriers of stages of shared memory that one thread fills and `consumers` warpgroups empty.
template <int stages, int consumers>
struct StageBarriers {
    std::uint64_t full[stages], empty[stages];

    /// Called by one thread, before the block's others know of the barriers.
    __device__ void init() {
        for (int i = 0; i < stages; ++i) {
            ptx::mbarrier_init(ptx::shared_address(&full[i]), 1);
            ptx::mbarrier_init(ptx::shared_address(&empty[i]), consumers);
        }
        ptx::fence_mbarrier_init();
    }
};

/// Where a thread is in the ring of stages.
template <int stages>
struct StageCursor {
    unsigned stage = 0, parity = 0;

    __device__ void advance() {
        if (++stage < stages) return;
        stage = 0, parity ^= 1;
    }
    __device__ void advance(unsigned steps) {
        unsigned const at = stage + steps;
        stage = at % stages, parity ^= at / stages & 1;
    }
};

}  // namespace fusekit::hip
