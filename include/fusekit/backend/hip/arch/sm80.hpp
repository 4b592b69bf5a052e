// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/target.hpp"

/// mma.sync, the warp-level MMA from registers, from sm_80 on: acc (16, 8) += a (16, K) b (K, 8). A 32-bit operand
/// register has two half or bfloat16 (K = 16, or K = 8 with half of the operand registers), four int8 or, from sm_89
/// on, e4m3 or e5m2 (K = 32), or one TF32 (K = 8). The emulator defines the same function. Other compiler passes see
/// only the declaration, because nothing that they compile calls it. ldmatrix_x4(): loads four 8 x 8 matrices of 16-bit
/// elements from shared memory. Lane l passes the address, a multiple of 16 bytes, of row l % 8 of matrix l / 8, and
/// gets elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4 of each matrix; ldmatrix_x4_trans(): of each transposed
/// matrix. converge_warp(): __syncwarp(), after lanes of a warp took different paths, because both instructions are
/// .aligned. Source: NVIDIA, PTX ISA 8.7, section 9.7.14.5, mma.sync and ldmatrix.
#if defined(HIP_ON_CPU)
namespace fusekit::hip {
namespace sm80 = hip_on_cpu::sm80;
}
#else
namespace fusekit::hip::sm80 {

enum class Factor { half, bfloat16, int8, tf32, e4m3, e5m2 };

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define FUSEKIT_MMA_SYNC(shape, types, sum)                                  \
    asm("mma.sync.aligned." shape ".row.col." types                          \
        " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "       \
        "%3};"                                                               \
        : "+" sum(acc[0]), "+" sum(acc[1]), "+" sum(acc[2]), "+" sum(acc[3]) \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

template <Factor factor, class Acc>
__device__ void mma_sync(Acc (&acc)[4], std::uint32_t const (&a)[4], std::uint32_t const (&b)[2]) {
    if constexpr (factor == Factor::half) FUSEKIT_MMA_SYNC("m16n8k16", "f32.f16.f16.f32", "f");
    else if constexpr (factor == Factor::bfloat16) FUSEKIT_MMA_SYNC("m16n8k16", "f32.bf16.bf16.f32", "f");
    else if constexpr (factor == Factor::tf32) FUSEKIT_MMA_SYNC("m16n8k8", "f32.tf32.tf32.f32", "f");
    else if constexpr (factor == Factor::int8) FUSEKIT_MMA_SYNC("m16n8k32", "s32.s8.s8.s32", "r");
    else if constexpr (factor == Factor::e4m3) FUSEKIT_MMA_SYNC("m16n8k32", "f32.e4m3.e4m3.f32", "f");
    else FUSEKIT_MMA_SYNC("m16n8k32", "f32.e5m2.e5m2.f32", "f");
}

#undef FUSEKIT_MMA_SYNC

template <Factor factor>
__device__ void mma_sync(float (&acc)[4], std::uint32_t const (&a)[2], std::uint32_t b) {
    static_assert(factor == Factor::half || factor == Factor::bfloat16);
    if constexpr (factor == Factor::half)
        asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
            : "r"(a[0]), "r"(a[1]), "r"(b));
    else
        asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
            : "r"(a[0]), "r"(a[1]), "r"(b));
}

__device__ inline void ldmatrix_x4(void const* row, std::uint32_t (&elements)[4]) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(elements[0]), "=r"(elements[1]), "=r"(elements[2]), "=r"(elements[3])
                 : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(row)))
                 : "memory");
}
__device__ inline void ldmatrix_x4_trans(void const* row, std::uint32_t (&elements)[4]) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(elements[0]), "=r"(elements[1]), "=r"(elements[2]), "=r"(elements[3])
                 : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(row)))
                 : "memory");
}
#else
template <Factor factor, class Acc>
__device__ void mma_sync(Acc (&acc)[4], std::uint32_t const (&a)[4], std::uint32_t const (&b)[2]);
template <Factor factor>
__device__ void mma_sync(float (&acc)[4], std::uint32_t const (&a)[2], std::uint32_t b);
__device__ void ldmatrix_x4(void const* row, std::uint32_t (&elements)[4]);
__device__ void ldmatrix_x4_trans(void const* row, std::uint32_t (&elements)[4]);
#endif

}  // namespace fusekit::hip::sm80
#endif

namespace fusekit::hip {

#if defined(__CUDA_ARCH__)
__device__ inline void converge_warp() { __syncwarp(); }
#else
__device__ inline void converge_warp() {}
#endif

}  // namespace fusekit::hip
