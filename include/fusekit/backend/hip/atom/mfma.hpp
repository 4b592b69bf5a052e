// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/arch/amd_matrix.hpp"
#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/tensor/dtype.hpp"
#include "fusekit/tensor/products.hpp"

namespace fusekit::hip {

/// MMA unit of AMD's CDNA, one MFMA of a wave of 64 lanes: acc[i][j] += sum over k of a[i][k] b[j][k], for Size rows i,
/// Size rows j and Depth indices k. Accumulators are float, int32 for int8. FP32 operands keep full precision; for
/// tf32, the instruction truncates them. 8-bit floats have AMD's FNUZ formats. Lane l holds row l % Size of a and of b,
/// and column l % Size of the accumulators. Source: AMD, "AMD Instinct MI300" instruction set architecture, section 7
/// (and those of MI100 and MI200, whose layouts are the same); v_mfma_*_32x32x*, v_mfma_*_16x16x*.
template <class T, int Depth, int Size = 32>
struct Mfma {
    static constexpr int m = Size, n = Size, k = Depth, threads = 64;
    static constexpr int rows_per_thread = 1;
    static constexpr int factors_per_thread = m * k / threads;  ///< elements of a, and also of b, per lane
    static constexpr int acc_per_thread = m * n / threads;

    using Operand = Words<factors_per_thread* static_cast<int>(sizeof(T)) / 4>;
    using Acc = detail::AccumulatorOf<T>;
    using Accumulators = Vector<Acc, acc_per_thread>;

    /// Row of the operand (factor_row) and index k (factor_k) of element e of a lane's fragment, of a as of b.
    FUSEKIT_HD static constexpr int factor_row(int lane, int) { return lane % Size; }
    FUSEKIT_HD static constexpr int factor_k(int lane, int e) { return lane / Size * factors_per_thread + e; }
    /// Row i and column j of the MMA's result of accumulator e of a lane.
    FUSEKIT_HD static constexpr int row(int lane, int e) { return (e / 4 * threads / Size + lane / Size) * 4 + e % 4; }
    FUSEKIT_HD static constexpr int column(int lane, int) { return lane % Size; }

    __device__ static Accumulators multiply(Operand a, Operand b, Accumulators c) {
        if constexpr (Size == 16 && std::is_same_v<T, half>) return amd::mfma_f32_16x16x16f16(a, b, c);
        else if constexpr (Size == 16) return amd::mfma_f32_16x16x16bf16_1k(a, b, c);
        else if constexpr (std::is_same_v<T, half>) return amd::mfma_f32_32x32x8f16(a, b, c);
        else if constexpr (std::is_same_v<T, float>) return amd::mfma_f32_32x32x2f32(a, b, c);
        else if constexpr (std::is_same_v<T, tf32>) return amd::mfma_f32_32x32x4_xf32(a, b, c);
        else if constexpr (std::is_same_v<T, bfloat16> && k == 4) return amd::mfma_f32_32x32x4bf16(a, b, c);
        else if constexpr (std::is_same_v<T, bfloat16>) return amd::mfma_f32_32x32x8bf16_1k(a, b, c);
        else if constexpr (std::is_same_v<T, e4m3_fnuz>) return amd::mfma_f32_32x32x16_fp8_fp8(a, b, c);
        else if constexpr (std::is_same_v<T, e5m2_fnuz>) return amd::mfma_f32_32x32x16_bf8_bf8(a, b, c);
        else if constexpr (k == 8) return amd::mfma_i32_32x32x8i8(a, b, c);
        else return amd::mfma_i32_32x32x16_i8(a, b, c);
    }
};

/// The Mfma with the most indices k for an operand type T on an architecture; for tf32, the FP32 one if there is no
/// XF32 instruction.
template <class T, class Tag>
using MfmaOf =
    std::conditional_t<std::is_same_v<T, float> || (std::is_same_v<T, tf32> && !std::is_base_of_v<arch::Gfx942, Tag>),
                       Mfma<float, 2>,
                       Mfma<T, sizeof(T) == 1                ? std::is_base_of_v<arch::Gfx942, Tag> ? 16 : 8
                               : std::is_same_v<T, bfloat16> ? std::is_base_of_v<arch::Gfx90a, Tag> ? 8 : 4
                               : std::is_same_v<T, tf32>     ? 4
                                                             : 8>>;

}  // namespace fusekit::hip
