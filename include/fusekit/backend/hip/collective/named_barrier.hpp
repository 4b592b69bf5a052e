// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/sm90a.hpp"

namespace fusekit::hip {

/// A barrier of some of a block's threads.
template <unsigned number, unsigned threads>
struct NamedBarrier {
    __device__ void operator()() const { ptx::bar_sync(number, threads); }
    __device__ bool any(bool said) const { return ptx::bar_red_or(number, threads, said); }
};

}  // namespace fusekit::hip
