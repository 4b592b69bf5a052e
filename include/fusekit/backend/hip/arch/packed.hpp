// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/tensor/dtype.hpp"

namespace fusekit::hip {

/// Rounds two values to the 16-bit or 8-bit type U and packs them into a 32-bit word, `first` in its lowest bits.
template <class U>
__device__ std::uint32_t packed(float first, float second) {
    static_assert(sizeof(U) <= 2);
    using Bits = std::conditional_t<sizeof(U) == 1, std::uint8_t, std::uint16_t>;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::uint32_t pair;
    if constexpr (std::is_same_v<U, half>) {
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
        return pair;
    } else if constexpr (std::is_same_v<U, bfloat16>) {
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
        return pair;
    }
#endif
    if constexpr (config::has_int8 && std::is_same_v<U, int8>) return config::floats_to_int8(first, second);
    if constexpr (config::has_float8 && (std::is_same_v<U, e4m3> || std::is_same_v<U, e5m2>))
        return config::floats_to_float8<std::is_same_v<U, e4m3> ? 3 : 2>(first, second);
    return std::uint32_t{config::bit_cast<Bits>(U(first))} | std::uint32_t{config::bit_cast<Bits>(U(second))}
                                                                 << 8 * sizeof(U);
}

/// Rounds four values to the 8-bit type U and packs them into a 32-bit word, values[0] in its lowest bits.
template <class U>
__device__ std::uint32_t packed_bytes(float const (&values)[4]) {
    if constexpr (config::has_int8 && std::is_same_v<U, int8>)
        return config::floats_to_int8(values[0], values[1], config::floats_to_int8(values[2], values[3]));
    else return packed<U>(values[0], values[1]) | packed<U>(values[2], values[3]) << 16;
}

/// Converts the two 16-bit elements of type U in the word `pair` to floats; values[0] is the lower one.
template <class U>
__device__ void unpack(std::uint32_t pair, float (&values)[2]) {
    values[0] = config::bit_cast<U>(static_cast<std::uint16_t>(pair));
    values[1] = config::bit_cast<U>(static_cast<std::uint16_t>(pair >> 16));
}

}  // namespace fusekit::hip
