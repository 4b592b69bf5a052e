// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {

namespace detail {

/// nvcc has no vectors of the compiler, and no pass of it multiplies any.
template <class T, int Size>
struct VectorOf {
#if defined(__CUDACC__)
    struct Type {
        T values[Size];
    };
#else
    typedef T Type __attribute__((vector_size(Size * sizeof(T))));
#endif
};

}  // namespace detail

/// What stands in registers together, as AMD's matrix instructions take it: v[i] is element i.
template <class T, int Size>
using Vector = typename detail::VectorOf<T, Size>::Type;
template <int Size>
using Words = Vector<std::uint32_t, Size>;

}  // namespace fusekit::hip
