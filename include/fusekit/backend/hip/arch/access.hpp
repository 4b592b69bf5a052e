// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/platform.hpp"
#include "fusekit/config.hpp"

namespace fusekit::hip {

/// Elements that move as one access of up to 16 bytes.
template <class T, int Count>
struct alignas(sizeof(T) * Count) Packet {
    T values[Count];
};

/// Reads and writes of memory that this kernel touches once: they leave the caches to what is used again.
#if defined(__CUDA_ARCH__)
template <class T>
__device__ T load_once(T const* from) {
    if constexpr (sizeof(T) == 16) {
        auto const words = __ldcs(reinterpret_cast<uint4 const*>(from));
        return reinterpret_cast<T const&>(words);
    } else {
        return *from;
    }
}
template <class T>
__device__ void store_once(T* to, T const& value) {
    if constexpr (sizeof(T) == 16) __stcs(reinterpret_cast<uint4*>(to), reinterpret_cast<uint4 const&>(value));
    else *to = value;
}
#else
template <class T>
FUSEKIT_HD T load_once(T const* from) {
    return *from;
}
template <class T>
FUSEKIT_HD void store_once(T* to, T const& value) {
    *to = value;
}
#endif

}  // namespace fusekit::hip
