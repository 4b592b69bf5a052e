// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/tensor/dtype.hpp"

namespace fusekit::hip {

/// Two values, rounded to half or bfloat16, in one register: the first in its lower half.
template <class U>
__device__ std::uint32_t packed(float first, float second) {
    static_assert(std::is_same_v<U, half> || std::is_same_v<U, bfloat16>);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::uint32_t both;
    if constexpr (std::is_same_v<U, half>) asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
    else asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
    return both;
#else
    return std::uint32_t{std::bit_cast<std::uint16_t>(U(first))} |
           std::uint32_t{std::bit_cast<std::uint16_t>(U(second))} << 16;
#endif
}

}  // namespace fusekit::hip
