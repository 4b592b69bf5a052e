// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/platform.hpp"

namespace fusekit::hip {

/// What a processor of the platform that is compiled for has: bytes of shared memory for its blocks; and the second of
/// __launch_bounds__' arguments, from how many blocks of `threads` it is meant to hold: CUDA takes just that, AMD's
/// compiler the waves of each of a compute unit's four SIMDs.
#if defined(__HIP_PLATFORM_AMD__)
inline constexpr int processor_shared_memory = 64 * 1024;
constexpr int residency(int threads, int blocks) { return threads * blocks < 256 ? 1 : threads * blocks / 256; }
#else
inline constexpr int processor_shared_memory = 228 * 1024;
constexpr int residency(int, int blocks) { return blocks; }
#endif

}  // namespace fusekit::hip
