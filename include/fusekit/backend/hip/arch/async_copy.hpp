// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/target.hpp"

namespace fusekit::hip {

/// has_async_copies: true if the target copies from global to shared memory without a register (cp.async). copy_async()
/// issues a copy of 4, 8 or 16 bytes, or of zeros if `is_read` is false; copy_async_first() copies the first `count`
/// bytes of the word and zero-fills the rest. commit_copies() commits this thread's copies since the last commit as a
/// group (cp.async.commit_group); wait_for_groups<count>() waits for all groups except the last `count`;
/// wait_for_copies() waits for all copies. Other targets load to registers, and store to shared memory after the
/// arithmetic that hides the latency.
inline constexpr bool has_async_copies = arch::Target::processor.has_async_copies;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
template <int Bytes>
__device__ void copy_async_first(void* to, void const* from, int count) {
    auto const shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if constexpr (Bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(count));
    else asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared), "l"(from), "n"(Bytes), "r"(count));
}
template <int Bytes>
__device__ void copy_async(void* to, void const* from, bool is_read) {
    copy_async_first<Bytes>(to, from, is_read ? Bytes : 0);
}
__device__ inline void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int count>
__device__ void wait_for_groups() {
    asm volatile("cp.async.wait_group %0;" ::"n"(count) : "memory");
}
#elif defined(HIP_ON_CPU)
template <int Bytes>
__device__ void copy_async(void* to, void const* from, bool is_read) {
    hip_on_cpu::sm80::copy(to, from, Bytes, is_read);
}
template <int Bytes>
__device__ void copy_async_first(void* to, void const* from, int count) {
    auto const bytes = static_cast<unsigned>(count);
    if (count > 0) hip_on_cpu::sm80::copy(to, from, bytes, true);
    if (count < Bytes) hip_on_cpu::sm80::copy(static_cast<unsigned char*>(to) + count, from, Bytes - bytes, false);
}
__device__ inline void commit_copies() { hip_on_cpu::sm80::commit_copies(); }
template <int count>
__device__ void wait_for_groups() {
    hip_on_cpu::sm80::wait_for_groups(count);
}
__device__ inline void wait_for_copies() { commit_copies(), wait_for_groups<0>(); }
#else  // targets without asynchronous copies: declared, but not called
template <int Bytes>
__device__ void copy_async(void* to, void const* from, bool is_read);
template <int Bytes>
__device__ void copy_async_first(void* to, void const* from, int count);
__device__ void wait_for_copies();
__device__ void commit_copies();
template <int count>
__device__ void wait_for_groups();
#endif

}  // namespace fusekit::hip
