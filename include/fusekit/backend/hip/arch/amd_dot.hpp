// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/vector.hpp"

/// AMD's dot instructions: return a . b + c, where a and b are words of two halves or of four signed bytes. The
/// emulator defines the same functions. Other compiler passes see only the declarations, because nothing that they
/// compile calls them. Sources: AMD, "RDNA 2" instruction set architecture, V_DOT2_F32_F16 and V_DOT4_I32_I8; LLVM,
/// SIISelLowering.cpp, for V_DOT2_F32_F16, which flushes float's subnormals to zero.
#if defined(HIP_ON_CPU)
namespace fusekit::hip {
namespace amd = hip_on_cpu::amd;
}
#else
namespace fusekit::hip::amd {

#if defined(__gfx1030__) || defined(__gfx1031__) || defined(__gfx1032__) || defined(__gfx1033__) || \
    defined(__gfx1034__) || defined(__gfx1035__) || defined(__gfx1036__)
using Halves2 = _Float16 __attribute__((ext_vector_type(2)));
__device__ inline float dot2_f32_f16(std::uint32_t a, std::uint32_t b, float c) {
    return __builtin_amdgcn_fdot2(__builtin_bit_cast(Halves2, a), __builtin_bit_cast(Halves2, b), c, false);
}
__device__ inline std::int32_t dot4_i32_i8(std::uint32_t a, std::uint32_t b, std::int32_t c) {
    return __builtin_amdgcn_sdot4(static_cast<int>(a), static_cast<int>(b), c, false);
}
#else
__device__ float dot2_f32_f16(std::uint32_t a, std::uint32_t b, float c);
__device__ std::int32_t dot4_i32_i8(std::uint32_t a, std::uint32_t b, std::int32_t c);
#endif

}  // namespace fusekit::hip::amd
#endif
