// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "hip_on_cpu/block.hpp"
#include "hip_on_cpu/factor.hpp"

/// Instructions of sm_80: cp.async, and mma.sync, D (16, 8) = A B + C from registers, and ldmatrix, as functions that
/// all lanes of a warp call from the same source line. Products are exact, and a float sum is rounded once. The program
/// aborts if the device's compute capability is lower. Each half of a 64-lane wave is a warp, because kernels for
/// NVIDIA GPUs are tested with both wave sizes. Source: NVIDIA, PTX ISA 8.7, section 9.7.14.5 (mma.sync; m16n8k16 of
/// .f16 and .bf16, m16n8k32 of .s8, m16n8k8 of .tf32).
namespace hip_on_cpu::sm80 {

using hip_on_cpu::Factor;

void multiply_floats(Factor factor, float* acc, std::uint32_t const* a, std::uint32_t const* b,
                     SourceLocation const& location);
void multiply_integers(std::int32_t* acc, std::uint32_t const* a, std::uint32_t const* b,
                       SourceLocation const& location);

/// mma.sync. Registers are numbered as in the manual; a register's first element is in its lowest bits.
template <Factor factor>
void mma_sync(float (&acc)[4], std::uint32_t const (&a)[4], std::uint32_t const (&b)[2],
              SourceLocation location = SourceLocation::current()) {
    multiply_floats(factor, acc, a, b, location);
}
/// mma.sync of half or bfloat16 with K = 8.
template <Factor factor>
void mma_sync(float (&acc)[4], std::uint32_t const (&a)[2], std::uint32_t b,
              SourceLocation location = SourceLocation::current()) {
    std::uint32_t const whole_a[4] = {a[0], a[1], 0, 0}, whole_b[2] = {b, 0};
    multiply_floats(factor, acc, whole_a, whole_b, location);
}
template <Factor>
void mma_sync(std::int32_t (&acc)[4], std::uint32_t const (&a)[4], std::uint32_t const (&b)[2],
              SourceLocation location = SourceLocation::current()) {
    multiply_integers(acc, a, b, location);
}

/// ldmatrix.x4: loads four 8 x 8 matrices of 16-bit elements from shared memory. Lane l passes the address of row l % 8
/// of matrix l / 8, and gets elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4 of each matrix.
void ldmatrix_x4(void const* row, std::uint32_t (&elements)[4], SourceLocation location = SourceLocation::current());
/// ldmatrix.x4.trans: the lane gets elements l / 4 of rows 2 (l % 4) and 2 (l % 4) + 1 of each matrix.
void ldmatrix_x4_trans(void const* row, std::uint32_t (&elements)[4],
                       SourceLocation location = SourceLocation::current());

/// cp.async of 4, 8 or 16 bytes to shared memory, zero-filled if `is_read` is false. It completes at its issue or at
/// the thread's wait, according to HIP_ON_CPU_ASYNC. commit_copies() makes the thread's copies since the last commit a
/// group; wait_for_groups() waits for all groups except the last `pending`. Available on every device, because kernels
/// are compiled once for all of them.
void copy(void* to, void const* from, unsigned bytes, bool is_read,
          SourceLocation location = SourceLocation::current());
void commit_copies();
void wait_for_groups(unsigned pending);

}  // namespace hip_on_cpu::sm80
