// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {

/// What stands in registers together, as AMD's matrix instructions take it: v[i] is element i. nvcc has none: its
/// instructions name each register.
#if defined(HIP_ON_CPU)
template <class T, int Size>
using Vector = hip_on_cpu::amd::Vector<T, Size>;
#elif defined(__CUDACC__)
template <class T, int Size>
struct Vector {
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

}  // namespace fusekit::hip
