// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "hip_on_cpu/block.hpp"

/// AMD's matrix instructions, as functions that do what one does: D = A B + C of a wave, whose lanes all call it from
/// one place. Factors of 32 bits are two of half or bfloat16, or four of 8 bits, the first in the lowest bits, or a
/// float. gfx942's 8-bit floats, "fp8" and "bf8", are AMD's own ("FNUZ"), gfx12's are OCP's. Products are exact and a
/// float sum is rounded once. On gfx90a, MFMA of half and of bfloat16 takes subnormal factors, subnormal sums that it
/// adds to and subnormal results as zeros. Source: AMD, MIOpen's documentation, "MI200 MFMA behavior specifics". The
/// program ends where the device's architecture lacks the instruction, and where gfx11's lanes 16 to 31 hold other
/// factors than lanes 0 to 15. Indices k of gfx12's 16-bit factors are in the order of its 8-bit ones: no result
/// depends on it, because A and B have the same. Source: AMD, "AMD Instinct MI300" instruction set architecture,
/// section 7, and those of MI100 and MI200; "RDNA3" and "RDNA4" instruction set architectures.
namespace hip_on_cpu::amd {

/// Elements that stand in registers together.
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

/// What has no effect here: that sums stay in registers of their own, and when they are computed.
template <class Sums>
void hold(Sums&) {}
template <class Sums>
void finish(Sums&) {}

Floats16 mfma_f32_32x32x8f16(Words<2> a, Words<2> b, Floats16 c, Place place = Place::current());
Floats16 mfma_f32_32x32x4bf16(Words<1> a, Words<1> b, Floats16 c, Place place = Place::current());
Floats16 mfma_f32_32x32x8bf16_1k(Words<2> a, Words<2> b, Floats16 c, Place place = Place::current());
Floats4 mfma_f32_16x16x16f16(Words<2> a, Words<2> b, Floats4 c, Place place = Place::current());
Floats4 mfma_f32_16x16x16bf16_1k(Words<2> a, Words<2> b, Floats4 c, Place place = Place::current());
Integers16 mfma_i32_32x32x8i8(Words<1> a, Words<1> b, Integers16 c, Place place = Place::current());
Integers16 mfma_i32_32x32x16_i8(Words<2> a, Words<2> b, Integers16 c, Place place = Place::current());
Floats16 mfma_f32_32x32x16_fp8_fp8(Words<2> a, Words<2> b, Floats16 c, Place place = Place::current());
Floats16 mfma_f32_32x32x16_bf8_bf8(Words<2> a, Words<2> b, Floats16 c, Place place = Place::current());
/// Of floats as they are, each product of which is added and rounded, and of their upper 19 bits.
Floats16 mfma_f32_32x32x2f32(Words<1> a, Words<1> b, Floats16 c, Place place = Place::current());
Floats16 mfma_f32_32x32x4_xf32(Words<2> a, Words<2> b, Floats16 c, Place place = Place::current());

/// WMMA's int8 is signed, and its sums wrap.
Floats8 wmma_f32_16x16x16_f16(Words<8> a, Words<8> b, Floats8 c, Place place = Place::current());
Floats8 wmma_f32_16x16x16_bf16(Words<8> a, Words<8> b, Floats8 c, Place place = Place::current());
Integers8 wmma_i32_16x16x16_iu8(Words<4> a, Words<4> b, Integers8 c, Place place = Place::current());
Floats8 wmma_f32_16x16x16_f16_gfx12(Words<4> a, Words<4> b, Floats8 c, Place place = Place::current());
Floats8 wmma_f32_16x16x16_bf16_gfx12(Words<4> a, Words<4> b, Floats8 c, Place place = Place::current());
Integers8 wmma_i32_16x16x16_iu8_gfx12(Words<2> a, Words<2> b, Integers8 c, Place place = Place::current());
Floats8 wmma_f32_16x16x16_fp8_fp8_gfx12(Words<2> a, Words<2> b, Floats8 c, Place place = Place::current());
Floats8 wmma_f32_16x16x16_bf8_bf8_gfx12(Words<2> a, Words<2> b, Floats8 c, Place place = Place::current());

/// Sparse products: of each four indices k, a lane holds two factors of A. Two bits for each factor in `indices` say
/// which index is its, the first factor's lowest. Of two factors the second has the higher index, or the program ends.
/// Other factors of B are not multiplied. Source: AMD, the same, "Sparse Matrix Arithmetic Instructions";
/// amd_matrix_instruction_calculator.
Integers16 smfmac_i32_32x32x32_i8(Words<2> a, Words<4> b, Integers16 c, std::uint32_t indices,
                                  Place place = Place::current());
Integers8 swmmac_i32_16x16x32_iu8(Words<2> a, Words<4> b, Integers8 c, std::uint32_t indices,
                                  Place place = Place::current());
Floats16 smfmac_f32_32x32x16_f16(Words<2> a, Words<4> b, Floats16 c, std::uint32_t indices,
                                 Place place = Place::current());
Floats16 smfmac_f32_32x32x16_bf16(Words<2> a, Words<4> b, Floats16 c, std::uint32_t indices,
                                  Place place = Place::current());
Floats16 smfmac_f32_32x32x32_fp8_fp8(Words<2> a, Words<4> b, Floats16 c, std::uint32_t indices,
                                     Place place = Place::current());
Floats16 smfmac_f32_32x32x32_bf8_bf8(Words<2> a, Words<4> b, Floats16 c, std::uint32_t indices,
                                     Place place = Place::current());
Floats8 swmmac_f32_16x16x32_fp8_fp8(Words<2> a, Words<4> b, Floats8 c, std::uint32_t indices,
                                    Place place = Place::current());
Floats8 swmmac_f32_16x16x32_bf8_bf8(Words<2> a, Words<4> b, Floats8 c, std::uint32_t indices,
                                    Place place = Place::current());

/// Dot instructions, a lane's own: a . b + c of two halves, rounded once, where the manual says no more, with zeros for
/// denormals of float; or of four signed bytes, whose sum wraps.
float dot2_f32_f16(std::uint32_t a, std::uint32_t b, float c, Place place = Place::current());
std::int32_t dot4_i32_i8(std::uint32_t a, std::uint32_t b, std::int32_t c, Place place = Place::current());

}  // namespace hip_on_cpu::amd
