// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/target.hpp"

namespace fusekit::hip {

/// The tag of GPUs that a mainloop needs: its Architecture, where it has one.
template <class Mainloop>
struct NeededArchitecture {
    using Type = arch::Any;
};
template <class Mainloop>
    requires requires { typename Mainloop::Architecture; }
struct NeededArchitecture<Mainloop> {
    using Type = typename Mainloop::Architecture;
};

/// The one kernel of the library: it runs a plan on the mainloop of a schedule. Its name is the layer, so a profiler's
/// trace reads as the plan. For GPUs that lack what the mainloop needs it is empty, and the mainloop is not compiled.
template <class Plan, class Mainloop>
__global__ void __launch_bounds__(Mainloop::threads, arch::Target::processor.residency(Mainloop::blocks))
    fused(typename Mainloop::Params params) {
    if constexpr (arch::has<typename NeededArchitecture<Mainloop>::Type>) {
        __shared__ typename Mainloop::Shared shared;
        Mainloop::run(params, shared, threadIdx.x, blockIdx.x);
    }
}

}  // namespace fusekit::hip
