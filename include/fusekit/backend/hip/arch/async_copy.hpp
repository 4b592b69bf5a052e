// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/target.hpp"

namespace fusekit::hip {

/// Copies 4 or 16 bytes from memory to shared memory without a register, or zeros where `is_read` is false. No thread
/// waits before wait_for_copies(). Where processors have no such copies, loads go to registers, and are stored after
/// the arithmetic that hides their latency.
inline constexpr bool has_async_copies = arch::Target::processor.has_async_copies;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
template <int Bytes>
__device__ void copy_async(float* to, float const* from, bool is_read) {
    auto const shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
    int const count = is_read ? Bytes : 0;
    if constexpr (Bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(count));
    else asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared), "l"(from), "n"(Bytes), "r"(count));
}
__device__ inline void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#else
template <int Bytes>
__device__ void copy_async(float* to, float const* from, bool is_read) {
    for (int i = 0; i < Bytes / 4; ++i) to[i] = is_read ? from[i] : 0.0f;
}
__device__ inline void wait_for_copies() {}
#endif

}  // namespace fusekit::hip
