// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {

/// Optimization barriers. reload(params) reads the kernel argument again, so that it does not occupy scalar registers
/// (AMD has about 100) across the mainloop. opaque(number) returns the number and hides how it was computed, so that
/// the compiler recomputes values derived from it. opaque_per_thread() and opaque_per_block() do so on AMD only, for a
/// number that differs by thread and for one that is uniform over the CTA. The asm operand of a scalar register is an
/// expression, not a variable: at -O0 a variable is in the thread's stack, and stack loads return vector registers.
#if defined(__HIP_DEVICE_COMPILE__) && defined(__HIP_PLATFORM_AMD__)
template <class Params>
__device__ Params const& reload(Params const&) {
    using Arguments = decltype(__builtin_amdgcn_kernarg_segment_ptr());
    // readfirstlane: the compiler may have moved the address to vector registers where control flow joins
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

/// Returns a shared-memory address that AMD's compiler cannot rewrite as another base plus an offset: it merges two
/// reads into one instruction only at offsets below 256 words from a common base. Unlike opaque(), the call may be
/// hoisted out of a loop.
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

/// Keeps a thread index, or the address of the CTA's shared memory, in a register. NVIDIA's compiler otherwise reads
/// both from special registers for each k-tile and stalls: 2 % of a convolution's time on an H200.
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
