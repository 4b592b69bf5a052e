// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {

/// What a processor of the platform that is compiled for has: bytes of shared memory for its blocks; the second of
/// __launch_bounds__' arguments, from how many blocks of `threads` it is meant to hold: CUDA takes just that, AMD's
/// compiler the waves of a SIMD, of which two take turns; and how far a GEMM's steps, a reduction's and the merging of
/// totals are unrolled with the registers that this leaves.
#if defined(__HIP_PLATFORM_AMD__)
inline constexpr int processor_shared_memory = 64 * 1024;
constexpr int residency(int) { return 2; }
constexpr int gemm_unroll(int, int) { return 2; }
constexpr int reduction_bytes(int element) { return 4 * element; }
inline constexpr int reduction_unroll = 4, merge_unroll = 1;
#else
inline constexpr int processor_shared_memory = 228 * 1024;
constexpr int residency(int blocks) { return blocks; }
constexpr int gemm_unroll(int threads, int blocks) { return threads * blocks > 400 ? 2 : 8; }
constexpr int reduction_bytes(int) { return 16; }
inline constexpr int reduction_unroll = 8, merge_unroll = 4;
#endif

}  // namespace fusekit::hip
