// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {

/// Wave shuffles, which all lanes of the wave must call. of_lane_xor() returns the value of lane (lane ^ mask).
/// shuffle_in_quad() returns the value of lane `lane` % 4 in each quad, a group of four consecutive lanes.
#if defined(__CUDACC__)
__device__ inline float of_lane_xor(float value, unsigned mask) {
    return __shfl_xor_sync(0xffffffffu, value, static_cast<int>(mask));
}
__device__ inline unsigned shuffle_in_quad(unsigned value, unsigned lane) {
    return __shfl_sync(0xffffffffu, value, static_cast<int>(lane), 4);
}
#else
__device__ inline float of_lane_xor(float value, unsigned mask) { return __shfl_xor(value, static_cast<int>(mask)); }
__device__ inline unsigned shuffle_in_quad(unsigned value, unsigned lane) {
    return __shfl(value, static_cast<int>(lane % 4), 4);
}
#endif

/// Transposes four words in each of the four lanes of a quad: word i of lane t becomes word t of lane i. `lane`: the
/// thread's lane in its quad.
__device__ inline void transpose_in_quad(std::uint32_t (&words)[4], unsigned lane) {
#pragma unroll
    for (unsigned mask = 1; mask < 4; mask *= 2) {
        bool const upper = (lane & mask) != 0;
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) {
            if ((i & mask) != 0) continue;
            std::uint32_t const other = shuffle_in_quad(upper ? words[i] : words[i + mask], lane ^ mask);
            (upper ? words[i] : words[i + mask]) = other;
        }
    }
}

/// of_lane_xor() for a struct of floats.
template <class Floats>
__device__ Floats floats_of_lane_xor(Floats const& floats, unsigned mask) {
    Floats other = floats;
#pragma unroll
    for (unsigned word = 0; word < sizeof(Floats) / sizeof(float); ++word)
        reinterpret_cast<float*>(&other)[word] = of_lane_xor(reinterpret_cast<float const*>(&floats)[word], mask);
    return other;
}

/// Returns `number` of the wave's first lane on AMD: tells the compiler that it is uniform over the wave and fits a
/// scalar register. Precondition: all lanes have the same `number`.
#if defined(__HIP_DEVICE_COMPILE__) && defined(__HIP_PLATFORM_AMD__)
__device__ inline int of_wave(int number) { return __builtin_amdgcn_readfirstlane(number); }
#else
__device__ inline int of_wave(int number) { return number; }
#endif

/// sync_shared_memory(): __syncthreads() of a CTA of `threads` threads, only for shared memory. sync_before_stores():
/// the same between reads of shared memory and later stores to it. On AMD, __syncthreads() also waits for global memory
/// and invalidates caches; from clang 19 on a fence can name the address space. A single AMD wave needs no barrier: its
/// LDS accesses complete in order. Source: LLVM, "User Guide for AMDGPU Backend", memory model.
#if defined(__HIP_DEVICE_COMPILE__) && defined(__HIP_PLATFORM_AMD__)
template <int threads>
__device__ void sync_shared_memory() {
    if constexpr (threads <= arch::Target::processor.wave) {
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
        __builtin_amdgcn_wave_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
    } else {
#if __clang_major__ >= 19
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
        __builtin_amdgcn_s_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
#else
        __syncthreads();
#endif
    }
}
template <int threads>
__device__ void sync_before_stores() {
#if __clang_major__ >= 19
    if constexpr (threads > arch::Target::processor.wave) {
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
        __builtin_amdgcn_s_barrier();
        asm volatile("" ::: "memory");  // compiler barrier: an acquire fence would wait
    } else {
        sync_shared_memory<threads>();
    }
#else
    sync_shared_memory<threads>();
#endif
}
#elif defined(HIP_ON_CPU)
template <int threads>
FUSEKIT_H void sync_shared_memory(hip_on_cpu::SourceLocation location = hip_on_cpu::SourceLocation::current()) {
    __syncthreads(location);
}
template <int threads>
FUSEKIT_H void sync_before_stores(hip_on_cpu::SourceLocation location = hip_on_cpu::SourceLocation::current()) {
    __syncthreads(location);
}
#else
template <int threads>
__device__ void sync_shared_memory() {
    __syncthreads();
}
template <int threads>
__device__ void sync_before_stores() {
    __syncthreads();
}
#endif

}  // namespace fusekit::hip
