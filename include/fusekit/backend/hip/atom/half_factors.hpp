// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/packed.hpp"
#include "fusekit/backend/hip/atom/mfma.hpp"

namespace fusekit::hip {

/// Operand types that replace half on gfx90a, whose MFMA of halves flushes subnormal operands to zero (AMD, MIOpen's
/// documentation, "MI200 MFMA behavior specifics"). RoundedHalf: a half rounded to bfloat16, which has a wider range
/// but 8 bits of mantissa, as in MIOpen's backward passes. ExactHalf: the half itself, multiplied by SIMT arithmetic.
struct RoundedHalf {};
struct ExactHalf {};

/// MMA unit of gfx90a for halves rounded to bfloat16: the bfloat16 MFMA has the operand layout and rate of the half
/// one. Precondition of multiply(): converted() has rounded every operand word.
template <int Depth, int Size = 32>
struct RoundedHalfMfma : Mfma<half, Depth, Size> {
    using Base = Mfma<half, Depth, Size>;

    __device__ static std::uint32_t converted(std::uint32_t halves) {
        float values[2];
        unpack<half>(halves, values);
        std::uint32_t rounded[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            auto const bits = config::bit_cast<std::uint32_t>(values[i]);
            std::uint32_t const nearest = bits + 0x7fffu + (bits >> 16 & 1u);  // round to nearest, ties to even
            rounded[i] = (bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x00400000u : nearest;
        }
        return rounded[0] >> 16 | (rounded[1] & 0xffff0000u);
    }
    __device__ static typename Base::Accumulators multiply(typename Base::Operand a, typename Base::Operand b,
                                                           typename Base::Accumulators c) {
        return Mfma<bfloat16, Depth, Size>::multiply(a, b, c);
    }
};

}  // namespace fusekit::hip
