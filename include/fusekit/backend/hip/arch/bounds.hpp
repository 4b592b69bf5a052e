// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/platform.hpp"

namespace fusekit::hip {

/// The second of __launch_bounds__' arguments, from how many blocks of `threads` a processor is meant to hold: CUDA
/// takes just that, AMD's compiler the waves of each of a compute unit's four SIMDs.
#if defined(__HIP_PLATFORM_AMD__)
constexpr int residency(int threads, int blocks) { return threads * blocks < 256 ? 1 : threads * blocks / 256; }
#else
constexpr int residency(int, int blocks) { return blocks; }
#endif

}  // namespace fusekit::hip
