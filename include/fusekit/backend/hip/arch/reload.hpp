// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {

/// Optimisation barriers. reload(params) reads the kernel's argument again, so that it does not occupy scalar registers
/// (about 100 on AMD) across the mainloop. opaque(number) hides where a number came from, so that values derived from
/// it are computed again; opaque_per_thread and opaque_per_block do so on AMD alone, for a number of the thread and one
/// that all threads of the block share. The operand of a scalar register is an expression and not a variable: without
/// optimisation a variable lies in the thread's memory, which loads into vector registers only.
#if defined(__HIP_DEVICE_COMPILE__) && defined(__HIP_PLATFORM_AMD__)
template <class Params>
__device__ Params const& reload(Params const&) {
    using Arguments = decltype(__builtin_amdgcn_kernarg_segment_ptr());
    // Where branches meet, the compiler may have kept the address in vector registers.
    auto const address = (unsigned long)__builtin_amdgcn_kernarg_segment_ptr();
    Arguments arguments;
    asm volatile(""
                 : "=s"(arguments)
                 : "0"((Arguments)((unsigned long)(unsigned)__builtin_amdgcn_readfirstlane((int)(address >> 32)) << 32 |
                                   (unsigned)__builtin_amdgcn_readfirstlane((int)address))));
    return *(Params const*)arguments;
}
__device__ inline unsigned opaque_per_thread(unsigned number) {
    asm volatile("" : "+v"(number));
    return number;
}
template <class Number>
__device__ Number opaque_per_block(Number number) {
    Number value;
    asm volatile("" : "=s"(value) : "0"(__builtin_amdgcn_readfirstlane(number)));
    return value;
}
__device__ inline int opaque(int number) {
    asm volatile("" : "+v"(number));
    return number;
}
#else
template <class Params>
__device__ Params const& reload(Params const& params) {
    return params;
}
__device__ inline unsigned opaque_per_thread(unsigned number) { return number; }
template <class Number>
__device__ Number opaque_per_block(Number number) {
    return number;
}
__device__ inline int opaque(int number) {
    asm volatile("" : "+r"(number));
    return number;
}
#endif

/// An address in shared memory, which AMD's compiler does not take apart into another one and a distance: it makes one
/// instruction of two reads only at distances below 256 words. Unlike opaque(), it leaves a loop.
#if defined(__HIP_DEVICE_COMPILE__) && defined(__HIP_PLATFORM_AMD__)
template <class T>
__device__ __attribute__((address_space(3))) T const* address_in_register(T const* in_shared) {
    using Address = __attribute__((address_space(3))) T const*;
    return (Address)__builtin_amdgcn_perm(0, (unsigned)(Address)in_shared, 0x03020100);
}
#else
template <class T>
__device__ T const* address_in_register(T const* in_shared) {
    return in_shared;
}
#endif

/// Keeps a thread's number, or where its block's shared memory lies, in a register. NVIDIA's compiler reads both from
/// special registers again in each step of a mainloop, which waits for them: 2 % of a convolution's time on an H200.
#if defined(__CUDA_ARCH__)
__device__ inline unsigned in_register(unsigned number) {
    asm volatile("" : "+r"(number));
    return number;
}
template <class Shared>
__device__ Shared& in_register(Shared& shared) {
    auto const address = in_register(static_cast<unsigned>(__cvta_generic_to_shared(&shared)));
    return *static_cast<Shared*>(__cvta_shared_to_generic(address));
}
#else
template <class T>
__device__ T& in_register(T& value) {
    return value;
}
#endif

}  // namespace fusekit::hip
