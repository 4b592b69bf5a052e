// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/platform.hpp"

namespace fusekit::hip {

/// The kernel's one argument, as if seen for the first time: what is read from it after a mainloop is not kept in AMD's
/// scalar registers, of which there are a hundred, throughout it. So a number of the thread, or of the block: what
/// follows from it, as a comparison that takes two of them. And any number: what a loop computes from it is computed in
/// the loop, and not kept in registers from before it.
/// What goes into a scalar register is an expression here and no variable: unoptimised, a variable is memory of the
/// thread's, which loads into vector registers alone.
#if defined(__HIP_DEVICE_COMPILE__) && defined(__HIP_PLATFORM_AMD__)
template <class Params>
__device__ Params const& seen_anew(Params const&) {
    decltype(__builtin_amdgcn_kernarg_segment_ptr()) arguments;
    asm volatile("" : "=s"(arguments) : "0"(__builtin_amdgcn_kernarg_segment_ptr()));
    return *(Params const*)arguments;
}
__device__ inline unsigned thread_seen_anew(unsigned number) {
    asm volatile("" : "+v"(number));
    return number;
}
__device__ inline unsigned block_seen_anew(unsigned number) {
    unsigned seen;
    asm volatile("" : "=s"(seen) : "0"(__builtin_amdgcn_readfirstlane(number)));
    return seen;
}
__device__ inline int seen_anew(int number) {
    asm volatile("" : "+v"(number));
    return number;
}
#else
template <class Params>
__device__ Params const& seen_anew(Params const& params) {
    return params;
}
__device__ inline unsigned thread_seen_anew(unsigned number) { return number; }
__device__ inline unsigned block_seen_anew(unsigned number) { return number; }
__device__ inline int seen_anew(int number) {
    asm volatile("" : "+r"(number));
    return number;
}
#endif

}  // namespace fusekit::hip
