// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {

/// Array of Size consecutive registers, an operand of matrix instructions; v[i] is element i. For AMD's compilers it is
/// a vector type; for nvcc a plain array, because NVIDIA's instructions name each register.
#if defined(HIP_ON_CPU)
template <class T, int Size>
using Vector = hip_on_cpu::amd::Vector<T, Size>;
#elif defined(__CUDACC__)
template <class T, int Size>
struct alignas(sizeof(T) * Size < 16 ? sizeof(T) * Size : 16) Vector {
    T values[Size];

    __device__ T& operator[](int i) { return values[i]; }
    __device__ T const& operator[](int i) const { return values[i]; }
};
#else
namespace detail {
template <class T, int Size>
struct VectorOf {
    typedef T Type __attribute__((vector_size(Size * sizeof(T))));
};
}  // namespace detail
template <class T, int Size>
using Vector = typename detail::VectorOf<T, Size>::Type;
#endif
template <int Size>
using Words = Vector<std::uint32_t, Size>;

/// Loads 16 bytes from an address that is a multiple of 16. A plain load in nvcc, which would compile a memcpy to byte
/// loads.
#if defined(__CUDACC__)
__device__ inline Words<4> read_words(void const* from) { return *static_cast<Words<4> const*>(from); }
#else
__device__ inline Words<4> read_words(void const* from) {
    Words<4> words;
    __builtin_memcpy(&words, __builtin_assume_aligned(from, 16), sizeof words);
    return words;
}
#endif

/// Waits for the load that writes `loaded`, and so for all loads issued before it, with one instruction; AMD's compiler
/// would wait for each load separately. Also a scheduling barrier.
template <class Loaded>
__device__ void wait_for([[maybe_unused]] Loaded& loaded) {
#if defined(__HIP_DEVICE_COMPILE__) && defined(__HIP_PLATFORM_AMD__)
    __builtin_amdgcn_sched_barrier(0);
    asm volatile("" : "+v"(loaded));
    __builtin_amdgcn_sched_barrier(0);
#endif
}

}  // namespace fusekit::hip
