// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/arch/amd_matrix.hpp"
#include "fusekit/tensor/dtype.hpp"

namespace fusekit::hip {

/// MMA unit of AMD's RDNA 3 and RDNA 4, one WMMA of a wave of 32 lanes: acc[i][j] += sum over k of a[i][k] b[j][k], for
/// 16 rows i, 16 rows j and 16 indices k. Accumulators are float, int32 for int8. Lane l holds row l % 16 of a and of
/// b, and column l % 16 of the accumulators. On RDNA 3, lanes 16 to 31 hold copies of the operands of lanes 0 to 15. On
/// RDNA 4, k of half and bfloat16 is in another order than in the manual, in a and b alike, so that a lane's elements
/// are contiguous. Source: AMD, "RDNA3" and "RDNA4" instruction set architectures, section 7.9; v_wmma_*_16x16x16_*.
template <class T, class Tag>
struct Wmma {
    static constexpr bool copied = !std::is_base_of_v<arch::Gfx12, Tag>;
    static constexpr int m = 16, n = 16, k = 16, threads = 32;
    static constexpr int rows_per_thread = 1;
    static constexpr int factors_per_thread = copied ? k : k / 2;
    static constexpr int acc_per_thread = m * n / threads;

    using Operand = Words<factors_per_thread* static_cast<int>(sizeof(T)) / 4>;
    using Acc = detail::AccumulatorOf<T>;
    using Accumulators = Vector<Acc, acc_per_thread>;

    FUSEKIT_HD static constexpr int factor_row(int lane, int) { return lane % 16; }
    FUSEKIT_HD static constexpr int factor_k(int lane, int e) {
        return copied ? e : lane / 16 * factors_per_thread + e;
    }
    FUSEKIT_HD static constexpr int row(int lane, int e) { return copied ? 2 * e + lane / 16 : lane / 16 * 8 + e; }
    FUSEKIT_HD static constexpr int column(int lane, int) { return lane % 16; }

    __device__ static Accumulators multiply(Operand a, Operand b, Accumulators c) {
        if constexpr (copied) {
            if constexpr (std::is_same_v<T, half>) return amd::wmma_f32_16x16x16_f16(a, b, c);
            else if constexpr (std::is_same_v<T, bfloat16>) return amd::wmma_f32_16x16x16_bf16(a, b, c);
            else return amd::wmma_i32_16x16x16_iu8(a, b, c);
        } else {
            if constexpr (std::is_same_v<T, half>) return amd::wmma_f32_16x16x16_f16_gfx12(a, b, c);
            else if constexpr (std::is_same_v<T, bfloat16>) return amd::wmma_f32_16x16x16_bf16_gfx12(a, b, c);
            else if constexpr (std::is_same_v<T, e4m3>) return amd::wmma_f32_16x16x16_fp8_fp8_gfx12(a, b, c);
            else if constexpr (std::is_same_v<T, e5m2>) return amd::wmma_f32_16x16x16_bf8_bf8_gfx12(a, b, c);
            else return amd::wmma_i32_16x16x16_iu8_gfx12(a, b, c);
        }
    }
};

}  // namespace fusekit::hip
