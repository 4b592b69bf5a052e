// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"

/// AMD's matrix instructions, one function each: return D = A B + C of a wave; each lane has fragments of A, B, C and
/// D. The emulator defines the same functions. Other compiler passes see only the declarations, because nothing that
/// they compile calls them: clang 19 crashes instead of reporting that a processor lacks an instruction. Source: AMD,
/// CDNA 1, CDNA 2 and CDNA 3 instruction set architectures, "Matrix Arithmetic Instructions"; RDNA 3 and RDNA 4, "Wave
/// Matrix Multiply Accumulate".
#if defined(HIP_ON_CPU)
namespace fusekit::hip {
namespace amd = hip_on_cpu::amd;
}
#else
namespace fusekit::hip::amd {

using Floats4 = Vector<float, 4>;
using Floats16 = Vector<float, 16>;
using Integers16 = Vector<std::int32_t, 16>;
using Floats8 = Vector<float, 8>;
using Integers8 = Vector<std::int32_t, 8>;

#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__)
using Halves4 = _Float16 __attribute__((ext_vector_type(4)));
__device__ inline Floats16 mfma_f32_32x32x8f16(Words<2> a, Words<2> b, Floats16 c) {
    return __builtin_amdgcn_mfma_f32_32x32x8f16(__builtin_bit_cast(Halves4, a), __builtin_bit_cast(Halves4, b), c, 0, 0,
                                                0);
}
__device__ inline Floats16 mfma_f32_32x32x2f32(Words<1> a, Words<1> b, Floats16 c) {
    return __builtin_amdgcn_mfma_f32_32x32x2f32(__builtin_bit_cast(float, a), __builtin_bit_cast(float, b), c, 0, 0, 0);
}
#else
__device__ Floats16 mfma_f32_32x32x8f16(Words<2> a, Words<2> b, Floats16 c);
__device__ Floats16 mfma_f32_32x32x2f32(Words<1> a, Words<1> b, Floats16 c);
#endif

#if defined(__gfx908__)
using Shorts2 = short __attribute__((ext_vector_type(2)));
__device__ inline Floats16 mfma_f32_32x32x4bf16(Words<1> a, Words<1> b, Floats16 c) {
    return __builtin_amdgcn_mfma_f32_32x32x4bf16(__builtin_bit_cast(Shorts2, a), __builtin_bit_cast(Shorts2, b), c, 0,
                                                 0, 0);
}
#else
__device__ Floats16 mfma_f32_32x32x4bf16(Words<1> a, Words<1> b, Floats16 c);
#endif

#if defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__)
using Shorts4 = short __attribute__((ext_vector_type(4)));
__device__ inline Floats16 mfma_f32_32x32x8bf16_1k(Words<2> a, Words<2> b, Floats16 c) {
    return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(__builtin_bit_cast(Shorts4, a), __builtin_bit_cast(Shorts4, b), c,
                                                    0, 0, 0);
}
__device__ inline Floats4 mfma_f32_16x16x16f16(Words<2> a, Words<2> b, Floats4 c) {
    return __builtin_amdgcn_mfma_f32_16x16x16f16(__builtin_bit_cast(Halves4, a), __builtin_bit_cast(Halves4, b), c, 0,
                                                 0, 0);
}
__device__ inline Floats4 mfma_f32_16x16x16bf16_1k(Words<2> a, Words<2> b, Floats4 c) {
    return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(__builtin_bit_cast(Shorts4, a), __builtin_bit_cast(Shorts4, b), c,
                                                     0, 0, 0);
}
#else
__device__ Floats16 mfma_f32_32x32x8bf16_1k(Words<2> a, Words<2> b, Floats16 c);
__device__ Floats4 mfma_f32_16x16x16f16(Words<2> a, Words<2> b, Floats4 c);
__device__ Floats4 mfma_f32_16x16x16bf16_1k(Words<2> a, Words<2> b, Floats4 c);
#endif

#if defined(__gfx908__) || defined(__gfx90a__)
__device__ inline Integers16 mfma_i32_32x32x8i8(Words<1> a, Words<1> b, Integers16 c) {
    return __builtin_amdgcn_mfma_i32_32x32x8i8(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c, 0, 0, 0);
}
#else
__device__ Integers16 mfma_i32_32x32x8i8(Words<1> a, Words<1> b, Integers16 c);
#endif

#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__)
__device__ inline Integers16 mfma_i32_32x32x16_i8(Words<2> a, Words<2> b, Integers16 c) {
    return __builtin_amdgcn_mfma_i32_32x32x16_i8(__builtin_bit_cast(long, a), __builtin_bit_cast(long, b), c, 0, 0, 0);
}
using Floats2 = float __attribute__((ext_vector_type(2)));
__device__ inline Floats16 mfma_f32_32x32x4_xf32(Words<2> a, Words<2> b, Floats16 c) {
    return __builtin_amdgcn_mfma_f32_32x32x4_xf32(__builtin_bit_cast(Floats2, a), __builtin_bit_cast(Floats2, b), c, 0,
                                                  0, 0);
}
__device__ inline Floats16 mfma_f32_32x32x16_fp8_fp8(Words<2> a, Words<2> b, Floats16 c) {
    return __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(__builtin_bit_cast(long, a), __builtin_bit_cast(long, b), c, 0, 0,
                                                      0);
}
__device__ inline Floats16 mfma_f32_32x32x16_bf8_bf8(Words<2> a, Words<2> b, Floats16 c) {
    return __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8(__builtin_bit_cast(long, a), __builtin_bit_cast(long, b), c, 0, 0,
                                                      0);
}
#else
__device__ Integers16 mfma_i32_32x32x16_i8(Words<2> a, Words<2> b, Integers16 c);
__device__ Floats16 mfma_f32_32x32x4_xf32(Words<2> a, Words<2> b, Floats16 c);
__device__ Floats16 mfma_f32_32x32x16_fp8_fp8(Words<2> a, Words<2> b, Floats16 c);
__device__ Floats16 mfma_f32_32x32x16_bf8_bf8(Words<2> a, Words<2> b, Floats16 c);
#endif

/// hold(): compiler barrier that keeps the accumulators `acc` in AGPRs. On gfx908 only MFMA computes in AGPRs, and the
/// compiler would copy the accumulators to VGPRs and back for each k-tile.
#if defined(__gfx908__)
template <class Accumulators>
__device__ void hold(Accumulators& acc) {
    asm volatile("" : "+a"(acc));
}
#else
template <class Accumulators>
__device__ void hold(Accumulators&) {}
#endif

#if defined(__GFX11__)
using Halves16 = _Float16 __attribute__((ext_vector_type(16)));
using Shorts16 = short __attribute__((ext_vector_type(16)));
using Integers4 = int __attribute__((ext_vector_type(4)));
__device__ inline Floats8 wmma_f32_16x16x16_f16(Words<8> a, Words<8> b, Floats8 c) {
    return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(__builtin_bit_cast(Halves16, a), __builtin_bit_cast(Halves16, b),
                                                      c);
}
__device__ inline Floats8 wmma_f32_16x16x16_bf16(Words<8> a, Words<8> b, Floats8 c) {
    return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(__builtin_bit_cast(Shorts16, a), __builtin_bit_cast(Shorts16, b),
                                                       c);
}
__device__ inline Integers8 wmma_i32_16x16x16_iu8(Words<4> a, Words<4> b, Integers8 c) {
    return __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, __builtin_bit_cast(Integers4, a), true,
                                                      __builtin_bit_cast(Integers4, b), c, false);
}
#else
__device__ Floats8 wmma_f32_16x16x16_f16(Words<8> a, Words<8> b, Floats8 c);
__device__ Floats8 wmma_f32_16x16x16_bf16(Words<8> a, Words<8> b, Floats8 c);
__device__ Integers8 wmma_i32_16x16x16_iu8(Words<4> a, Words<4> b, Integers8 c);
#endif

#if defined(__GFX12__)
using Halves8 = _Float16 __attribute__((ext_vector_type(8)));
using Shorts8 = short __attribute__((ext_vector_type(8)));
using Integers2 = int __attribute__((ext_vector_type(2)));
__device__ inline Floats8 wmma_f32_16x16x16_f16_gfx12(Words<4> a, Words<4> b, Floats8 c) {
    return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(__builtin_bit_cast(Halves8, a),
                                                            __builtin_bit_cast(Halves8, b), c);
}
__device__ inline Floats8 wmma_f32_16x16x16_bf16_gfx12(Words<4> a, Words<4> b, Floats8 c) {
    return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(__builtin_bit_cast(Shorts8, a),
                                                             __builtin_bit_cast(Shorts8, b), c);
}
__device__ inline Integers8 wmma_i32_16x16x16_iu8_gfx12(Words<2> a, Words<2> b, Integers8 c) {
    return __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(true, __builtin_bit_cast(Integers2, a), true,
                                                            __builtin_bit_cast(Integers2, b), c, false);
}
__device__ inline Floats8 wmma_f32_16x16x16_fp8_fp8_gfx12(Words<2> a, Words<2> b, Floats8 c) {
    return __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12(__builtin_bit_cast(Integers2, a),
                                                                __builtin_bit_cast(Integers2, b), c);
}
__device__ inline Floats8 wmma_f32_16x16x16_bf8_bf8_gfx12(Words<2> a, Words<2> b, Floats8 c) {
    return __builtin_amdgcn_wmma_f32_16x16x16_bf8_bf8_w32_gfx12(__builtin_bit_cast(Integers2, a),
                                                                __builtin_bit_cast(Integers2, b), c);
}
#else
__device__ Floats8 wmma_f32_16x16x16_f16_gfx12(Words<4> a, Words<4> b, Floats8 c);
__device__ Floats8 wmma_f32_16x16x16_bf16_gfx12(Words<4> a, Words<4> b, Floats8 c);
__device__ Integers8 wmma_i32_16x16x16_iu8_gfx12(Words<2> a, Words<2> b, Integers8 c);
__device__ Floats8 wmma_f32_16x16x16_fp8_fp8_gfx12(Words<2> a, Words<2> b, Floats8 c);
__device__ Floats8 wmma_f32_16x16x16_bf8_bf8_gfx12(Words<2> a, Words<2> b, Floats8 c);
#endif

}  // namespace fusekit::hip::amd
#endif
