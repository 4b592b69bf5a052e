// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/sm90a.hpp"

namespace fusekit::hip {

/// Named barrier (bar.sync) number `number` of `threads` threads of the CTA, as a function object.
template <unsigned number, unsigned threads>
struct NamedBarrier {
    __device__ void operator()() const { ptx::bar_sync(number, threads); }
    /// Barrier that returns the OR of all threads' predicates.
    __device__ bool any(bool predicate) const { return ptx::bar_red_or(number, threads, predicate); }
};

}  // namespace fusekit::hip
