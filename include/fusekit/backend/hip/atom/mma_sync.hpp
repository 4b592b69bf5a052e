// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/arch/sm80.hpp"
#include "fusekit/backend/hip/arch/tf32.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"
#include "fusekit/tensor/dtype.hpp"

namespace fusekit::hip {

/// MMA unit of NVIDIA's tensor cores from sm_80 on (mma.sync), for a warp: acc[i][j] += sum over k of a[i][k] b[j][k],
/// for 16 rows i, 16 rows j and 32 bytes of indices k. Accumulators are float, int32 for int8. With 8-bit floats each
/// instruction accumulates from zero, because it truncates addends (atom/wgmma.hpp), and its sums are added in FP32.
/// Two instructions multiply 8 rows j each. Lane l holds rows l / 4 and l / 4 + 8, of a as of b. Indices k are in
/// another order than in the manual, in a and b alike, so that a lane's elements of a row are contiguous. For tf32,
/// floats are rounded in registers. Source: NVIDIA, PTX ISA 8.7, section 9.7.14.5; m16n8k16 of .f16 and .bf16, m16n8k32
/// of .s8, .e4m3 and .e5m2, m16n8k8 of .tf32.
template <class T>
struct MmaSync {
    static constexpr int m = 16, n = 16, k = 32 / static_cast<int>(sizeof(T)), threads = 32;
    static constexpr int rows_per_thread = 2, factors_per_thread = m * k / threads;
    static constexpr int acc_per_thread = m * n / threads;

    using Operand = Words<4>;  ///< in lane l: two words of row l / 4, then two of row l / 4 + 8
    using Acc = detail::AccumulatorOf<T>;
    using Accumulators = Vector<Acc, acc_per_thread>;

    FUSEKIT_HD static constexpr int factor_row(int lane, int e) { return lane / 4 + e / (factors_per_thread / 2) * 8; }
    FUSEKIT_HD static constexpr int factor_k(int lane, int e) {
        return lane % 4 * (factors_per_thread / 2) + e % (factors_per_thread / 2);
    }
    FUSEKIT_HD static constexpr int row(int lane, int e) { return lane / 4 + e / 2 % 2 * 8; }
    FUSEKIT_HD static constexpr int column(int lane, int e) { return lane % 4 * 2 + e % 2 + e / 4 * 8; }

    __device__ static Accumulators multiply(Operand a, Operand b, Accumulators c) {
        if constexpr (std::is_same_v<T, tf32>) {
#pragma unroll
            for (int i = 0; i < 4; ++i) a[i] = rounded_to_tf32(a[i]).bits, b[i] = rounded_to_tf32(b[i]).bits;
        }
        // PTX's order of an operand's registers: both rows at the first k, then both rows at the second k
        std::uint32_t const rows[4] = {a[0], a[2], a[1], a[3]};
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            Acc acc[4];
            for (int e = 0; e < 4; ++e) acc[e] = c[4 * half + e];
            std::uint32_t const columns[2] = {b[2 * half], b[2 * half + 1]};
            multiply_columns(acc, rows, columns);
#pragma unroll
            for (int e = 0; e < 4; ++e) c[4 * half + e] = acc[e];
        }
        return c;
    }

    /// One instruction: multiplies 16 rows i by 8 rows j. acc[e] is element (row(lane, e), column(lane, e)). Registers
    /// of `rows` and `columns` are in PTX's order; TF32 is rounded.
    __device__ static void multiply_columns(Acc (&acc)[4], std::uint32_t const (&rows)[4],
                                            std::uint32_t const (&columns)[2]) {
        constexpr auto factor = std::is_same_v<T, half>       ? sm80::Factor::half
                                : std::is_same_v<T, bfloat16> ? sm80::Factor::bfloat16
                                : std::is_same_v<T, tf32>     ? sm80::Factor::tf32
                                : std::is_same_v<T, e4m3>     ? sm80::Factor::e4m3
                                : std::is_same_v<T, e5m2>     ? sm80::Factor::e5m2
                                                              : sm80::Factor::int8;
        if constexpr (detail::is_float8<T>) {
            Acc sums[4] = {};
            sm80::mma_sync<factor>(sums, rows, columns);
            for (int e = 0; e < 4; ++e) acc[e] += sums[e];
        } else {
            sm80::mma_sync<factor>(acc, rows, columns);
        }
    }
};

}  // namespace fusekit::hip
