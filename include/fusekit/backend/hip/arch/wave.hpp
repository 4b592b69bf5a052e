// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {

/// The value of the lane whose number in the wave differs in the bits of `mask`. Every lane of the wave calls it.
#if defined(__CUDACC__)
__device__ inline float of_lane_xor(float value, unsigned mask) {
    return __shfl_xor_sync(0xffffffffu, value, static_cast<int>(mask));
}
#else
__device__ inline float of_lane_xor(float value, unsigned mask) { return __shfl_xor(value, static_cast<int>(mask)); }
#endif

}  // namespace fusekit::hip
