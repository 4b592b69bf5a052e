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

/// A number that all lanes of a wave have, which AMD's compiler may not know.
#if defined(__HIP_DEVICE_COMPILE__) && defined(__HIP_PLATFORM_AMD__)
__device__ inline int of_wave(int number) { return __builtin_amdgcn_readfirstlane(number); }
#else
__device__ inline int of_wave(int number) { return number; }
#endif

}  // namespace fusekit::hip
