// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "hip_on_cpu/block.hpp"
#include "hip_on_cpu/factor.hpp"

/// What sm_80 adds: copies to shared memory that no thread waits for before it says so (cp.async), and a warp's product
/// from registers, D = A B + C of 16 x 8, as one function that all lanes call from one place. Products are exact and a
/// float sum is rounded once. The program ends where the device's compute capability is lower. Of a wave of 64 each
/// half is a warp, because kernels for NVIDIA's GPUs are run with both widths. Source: NVIDIA, PTX ISA 8.7,
/// section 9.7.14.5 (mma.sync; m16n8k16 of .f16 and .bf16, m16n8k32 of .s8,
/// m16n8k8 of .tf32).
namespace hip_on_cpu::sm80 {

using hip_on_cpu::Factor;

void multiply_floats(Factor factor, float* sums, std::uint32_t const* a, std::uint32_t const* b, Place const& place);
void multiply_integers(std::int32_t* sums, std::uint32_t const* a, std::uint32_t const* b, Place const& place);

/// Registers are numbered as the manual does; the first factor stands in the lowest bits.
template <Factor factor>
void mma_sync(float (&sums)[4], std::uint32_t const (&a)[4], std::uint32_t const (&b)[2],
              Place place = Place::current()) {
    multiply_floats(factor, sums, a, b, place);
}
template <Factor>
void mma_sync(std::int32_t (&sums)[4], std::uint32_t const (&a)[4], std::uint32_t const (&b)[2],
              Place place = Place::current()) {
    multiply_integers(sums, a, b, place);
}

/// Copies 4, 8 or 16 bytes to shared memory, or zeros where `is_read` is false: at once, or when the thread waits for
/// them, as HIP_ON_CPU_ASYNC says. Copies since the last commit are a group; a wait is for all groups but the last
/// `pending`. On devices of every kind, because kernels are compiled once for all of them.
void copy(void* to, void const* from, unsigned bytes, bool is_read);
void commit_copies();
void wait_for_groups(unsigned pending);

}  // namespace hip_on_cpu::sm80
