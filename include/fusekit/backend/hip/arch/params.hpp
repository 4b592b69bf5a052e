// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/platform.hpp"

namespace fusekit::hip {

/// The kernel's one argument, as if seen for the first time: what is read from it after a mainloop is not kept in AMD's
/// scalar registers, of which there are a hundred, throughout it.
#if defined(__HIP_DEVICE_COMPILE__) && defined(__HIP_PLATFORM_AMD__)
template <class Params>
__device__ Params const& seen_anew(Params const&) {
    auto arguments = __builtin_amdgcn_kernarg_segment_ptr();
    asm volatile("" : "+s"(arguments));
    return *(Params const*)arguments;
}
#else
template <class Params>
__device__ Params const& seen_anew(Params const& params) {
    return params;
}
#endif

}  // namespace fusekit::hip
