// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/tensor/products.hpp"

namespace fusekit::hip {

/// Rounds the float with the bits `bits` to the nearest TF32 value, ties away from zero. NaN stays NaN.
__device__ inline tf32 rounded_to_tf32(std::uint32_t bits) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    tf32 result;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result.bits) : "f"(__uint_as_float(bits)));
    return result;
#else
    constexpr std::uint32_t infinity = 0x7f800000, cut = (1u << 13) - 1;
    // sets a mantissa bit that is kept: the NaN may have only bits that are truncated
    if ((bits & ~(1u << 31)) > infinity) return {bits | 1u << 22};
    return {(bits + (1u << 12)) & ~cut};
#endif
}
__device__ inline tf32 rounded_to_tf32(float value) { return rounded_to_tf32(config::bit_cast<std::uint32_t>(value)); }

}  // namespace fusekit::hip
