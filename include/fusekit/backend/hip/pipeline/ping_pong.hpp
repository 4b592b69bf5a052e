// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/sm90a.hpp"

namespace fusekit::hip {

/// Ordered barrier of two ping-pong warpgroups: one runs its MMAs while the other runs its epilogue. Warpgroup 0 runs
/// its MMAs first: warpgroup 1 calls arrive() once before its first wait(). Uses the named barriers `first_barrier` and
/// `first_barrier` + 1. If not `enabled`, wait() and arrive() do nothing.
template <bool enabled, unsigned first_barrier>
struct PingPong {
    unsigned group;  ///< index of this warpgroup, 0 or 1

    /// Waits until the other warpgroup has called arrive().
    __device__ void wait() const {
        if constexpr (enabled) ptx::bar_sync(first_barrier + group, threads);
    }
    /// Allows the other warpgroup to return from its wait().
    __device__ void arrive() const {
        if constexpr (enabled) ptx::bar_arrive(first_barrier + (group ^ 1), threads);
    }

private:
    static constexpr unsigned threads = 2 * 128;
};

}  // namespace fusekit::hip
