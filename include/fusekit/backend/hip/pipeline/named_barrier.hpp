// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/sm90a.hpp"

namespace fusekit::hip {

/// Functor that synchronizes `threads` threads of the CTA on named barrier `number`, in [0, 15] (bar.sync).
template <unsigned number, unsigned threads>
struct NamedBarrier {
    __device__ void operator()() const { ptx::bar_sync(number, threads); }
    /// Synchronizes like operator() and returns the OR of all threads' `predicate`.
    __device__ bool any(bool predicate) const { return ptx::bar_red_or(number, threads, predicate); }
};

}  // namespace fusekit::hip
