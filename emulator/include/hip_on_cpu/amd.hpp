// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "hip_on_cpu/block.hpp"

/// AMD's matrix instructions as functions: return D = A B + C of a wave; all lanes call from the same source line. A
/// 32-bit register of an operand has two half or bfloat16, or four 8-bit elements, the first in the lowest bits, or one
/// float. gfx942's "fp8" and "bf8" are AMD's FNUZ formats, gfx12's are OCP's. Products are exact, and a float sum is
/// rounded once. On gfx90a, MFMA of half and bfloat16 flushes subnormal operands, accumulators and results to zero.
/// Source: AMD, MIOpen's documentation, "MI200 MFMA behavior specifics". The program aborts if the device's
/// architecture lacks the instruction, and if gfx11's lanes 16 to 31 do not replicate the operands of lanes 0 to 15.
/// The k index of gfx12's 16-bit operands is in the order of its 8-bit ones: results do not depend on it, because A and
/// B agree. Source: AMD, "AMD Instinct MI300" instruction set architecture, section 7, and those of MI100 and MI200;
/// "RDNA3" and "RDNA4" instruction set architectures.
namespace hip_on_cpu::amd {

/// Array of consecutive registers, or of elements packed in them.
template <class T, int Size>
struct Vector {
    T values[Size];

    T& operator[](int i) { return values[i]; }
    T const& operator[](int i) const { return values[i]; }
};
template <int Size>
using Words = Vector<std::uint32_t, Size>;
using Floats4 = Vector<float, 4>;
using Floats8 = Vector<float, 8>;
using Floats16 = Vector<float, 16>;
using Integers8 = Vector<std::int32_t, 8>;
using Integers16 = Vector<std::int32_t, 16>;

/// hold() and finish() have no effect here: on a GPU they keep accumulators in registers and order their computation.
template <class Accumulators>
void hold(Accumulators&) {}
template <class Accumulators>
void finish(Accumulators&) {}

Floats16 mfma_f32_32x32x8f16(Words<2> a, Words<2> b, Floats16 c, SourceLocation location = SourceLocation::current());
Floats16 mfma_f32_32x32x4bf16(Words<1> a, Words<1> b, Floats16 c, SourceLocation location = SourceLocation::current());
Floats16 mfma_f32_32x32x8bf16_1k(Words<2> a, Words<2> b, Floats16 c,
                                 SourceLocation location = SourceLocation::current());
Floats4 mfma_f32_16x16x16f16(Words<2> a, Words<2> b, Floats4 c, SourceLocation location = SourceLocation::current());
Floats4 mfma_f32_16x16x16bf16_1k(Words<2> a, Words<2> b, Floats4 c,
                                 SourceLocation location = SourceLocation::current());
Integers16 mfma_i32_32x32x8i8(Words<1> a, Words<1> b, Integers16 c,
                              SourceLocation location = SourceLocation::current());
Integers16 mfma_i32_32x32x16_i8(Words<2> a, Words<2> b, Integers16 c,
                                SourceLocation location = SourceLocation::current());
Floats16 mfma_f32_32x32x16_fp8_fp8(Words<2> a, Words<2> b, Floats16 c,
                                   SourceLocation location = SourceLocation::current());
Floats16 mfma_f32_32x32x16_bf8_bf8(Words<2> a, Words<2> b, Floats16 c,
                                   SourceLocation location = SourceLocation::current());
/// FP32 MFMA, which rounds after each addition, and XF32 MFMA, which reads the upper 19 bits of each operand element.
Floats16 mfma_f32_32x32x2f32(Words<1> a, Words<1> b, Floats16 c, SourceLocation location = SourceLocation::current());
Floats16 mfma_f32_32x32x4_xf32(Words<2> a, Words<2> b, Floats16 c, SourceLocation location = SourceLocation::current());

/// WMMA. iu8 multiplies signed bytes, and its accumulators wrap.
Floats8 wmma_f32_16x16x16_f16(Words<8> a, Words<8> b, Floats8 c, SourceLocation location = SourceLocation::current());
Floats8 wmma_f32_16x16x16_bf16(Words<8> a, Words<8> b, Floats8 c, SourceLocation location = SourceLocation::current());
Integers8 wmma_i32_16x16x16_iu8(Words<4> a, Words<4> b, Integers8 c,
                                SourceLocation location = SourceLocation::current());
Floats8 wmma_f32_16x16x16_f16_gfx12(Words<4> a, Words<4> b, Floats8 c,
                                    SourceLocation location = SourceLocation::current());
Floats8 wmma_f32_16x16x16_bf16_gfx12(Words<4> a, Words<4> b, Floats8 c,
                                     SourceLocation location = SourceLocation::current());
Integers8 wmma_i32_16x16x16_iu8_gfx12(Words<2> a, Words<2> b, Integers8 c,
                                      SourceLocation location = SourceLocation::current());
Floats8 wmma_f32_16x16x16_fp8_fp8_gfx12(Words<2> a, Words<2> b, Floats8 c,
                                        SourceLocation location = SourceLocation::current());
Floats8 wmma_f32_16x16x16_bf8_bf8_gfx12(Words<2> a, Words<2> b, Floats8 c,
                                        SourceLocation location = SourceLocation::current());

/// Sparse MMAs, with structured 4:2 sparsity: of every four indices k, a lane holds two elements of A. Two bits per
/// element in `indices` give its k, those of the first element in the lowest bits. The program aborts unless the second
/// element's index is the higher one. Elements of B at other indices are not multiplied. Source: AMD, the same manuals,
/// "Sparse Matrix Arithmetic Instructions"; amd_matrix_instruction_calculator.
Integers16 smfmac_i32_32x32x32_i8(Words<2> a, Words<4> b, Integers16 c, std::uint32_t indices,
                                  SourceLocation location = SourceLocation::current());
Integers8 swmmac_i32_16x16x32_iu8(Words<2> a, Words<4> b, Integers8 c, std::uint32_t indices,
                                  SourceLocation location = SourceLocation::current());
Floats16 smfmac_f32_32x32x16_f16(Words<2> a, Words<4> b, Floats16 c, std::uint32_t indices,
                                 SourceLocation location = SourceLocation::current());
Floats16 smfmac_f32_32x32x16_bf16(Words<2> a, Words<4> b, Floats16 c, std::uint32_t indices,
                                  SourceLocation location = SourceLocation::current());
Floats16 smfmac_f32_32x32x32_fp8_fp8(Words<2> a, Words<4> b, Floats16 c, std::uint32_t indices,
                                     SourceLocation location = SourceLocation::current());
Floats16 smfmac_f32_32x32x32_bf8_bf8(Words<2> a, Words<4> b, Floats16 c, std::uint32_t indices,
                                     SourceLocation location = SourceLocation::current());
Floats8 swmmac_f32_16x16x32_fp8_fp8(Words<2> a, Words<4> b, Floats8 c, std::uint32_t indices,
                                    SourceLocation location = SourceLocation::current());
Floats8 swmmac_f32_16x16x32_bf8_bf8(Words<2> a, Words<4> b, Floats8 c, std::uint32_t indices,
                                    SourceLocation location = SourceLocation::current());

/// Dot products of one lane: return a . b + c of two halves, rounded once (the manual does not specify more), with FP32
/// subnormals flushed to zero; or of four signed bytes, with a sum that wraps.
float dot2_f32_f16(std::uint32_t a, std::uint32_t b, float c, SourceLocation location = SourceLocation::current());
std::int32_t dot4_i32_i8(std::uint32_t a, std::uint32_t b, std::int32_t c,
                         SourceLocation location = SourceLocation::current());

}  // namespace hip_on_cpu::amd
