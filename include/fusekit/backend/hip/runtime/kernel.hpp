// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/processor.hpp"

namespace fusekit::hip {

/// The one kernel of the library: a plan, on a mainloop that its schedule was made into. Its name is the layer, so a
/// profiler's trace reads as the plan.
template <class Plan, class Mainloop>
__global__ void __launch_bounds__(Mainloop::threads, residency(Mainloop::blocks))
    fused(typename Mainloop::Params params) {
    __shared__ typename Mainloop::Shared shared;
    Mainloop::run(params, shared, threadIdx.x, blockIdx.x);
}

}  // namespace fusekit::hip
