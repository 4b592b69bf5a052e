// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/target.hpp"

namespace fusekit::hip {

/// What a mainloop needs of the GPU: its Architecture, a tag, where it has one.
template <class Mainloop>
struct NeededArchitecture {
    using Type = arch::Any;
};
template <class Mainloop>
    requires requires { typename Mainloop::Architecture; }
struct NeededArchitecture<Mainloop> {
    using Type = typename Mainloop::Architecture;
};

/// The one kernel of the library: a plan, on a mainloop that its schedule was made into. Its name is the layer, so a
/// profiler's trace reads as the plan. For GPUs that have not what the mainloop needs it is empty, and nothing of the
/// mainloop is compiled.
template <class Plan, class Mainloop>
__global__ void __launch_bounds__(Mainloop::threads, arch::Target::processor.residency(Mainloop::blocks))
    fused(typename Mainloop::Params params) {
    if constexpr (arch::has<typename NeededArchitecture<Mainloop>::Type>) {
        __shared__ typename Mainloop::Shared shared;
        Mainloop::run(params, shared, threadIdx.x, blockIdx.x);
    }
}

}  // namespace fusekit::hip
