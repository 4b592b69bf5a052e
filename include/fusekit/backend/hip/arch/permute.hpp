// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {

/// permuted(): selects four of eight bytes. Byte i of the result is byte s of `low` (s = 0 to 3) or byte s - 4 of
/// `high` (s = 4 to 7), where s is byte i of `selector`; it is zero if s is no_byte, and 0xff if s is byte_of_ones.
/// Source: AMD, CDNA 3 instruction set architecture, V_PERM_B32, which all of AMD's GPUs have.
inline constexpr std::uint32_t no_byte = 0x0c, byte_of_ones = 0x0d;
#if defined(__HIP_DEVICE_COMPILE__) && defined(__HIP_PLATFORM_AMD__)
__device__ inline std::uint32_t permuted(std::uint32_t high, std::uint32_t low, std::uint32_t selector) {
    return __builtin_amdgcn_perm(high, low, selector);
}
#else
__device__ inline std::uint32_t permuted(std::uint32_t high, std::uint32_t low, std::uint32_t selector) {
    std::uint64_t const bytes = std::uint64_t{high} << 32 | low;
    std::uint32_t result = 0;
    for (int i = 0; i < 32; i += 8) {
        std::uint32_t const at = selector >> i & 0xff;
        if (at < 8) result |= static_cast<std::uint32_t>(bytes >> (8 * at) & 0xff) << i;
        else if (at == byte_of_ones) result |= std::uint32_t{0xff} << i;
    }
    return result;
}
#endif

/// Returns all ones if bit number `bit` of `word` is set, otherwise 0. One instruction on AMD, V_BFE_I32.
__device__ inline std::uint32_t spread_bit(std::uint32_t word, std::uint32_t bit) {
#if defined(__HIP_DEVICE_COMPILE__) && defined(__HIP_PLATFORM_AMD__)
    return __builtin_amdgcn_sbfe(word, bit, 1);
#else
    return 0 - (word >> bit & 1);
#endif
}

/// Returns a + b, saturated at 2^32 - 1. One instruction on AMD, V_ADD_U32 with clamp.
__device__ inline std::uint32_t saturating_sum(std::uint32_t a, std::uint32_t b) {
    std::uint32_t const sum = a + b;
    return sum < a ? ~0u : sum;
}

}  // namespace fusekit::hip
