// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {

/// Gives a factor of a product unchanged. Integers have 24 bits at most: AMD's processors multiply those at full speed,
/// and 32 bits at a quarter of it. Shifts tell the compiler so, and it then removes them.
__device__ inline float factor(float value) { return value; }
#if defined(__HIP_PLATFORM_AMD__)
__device__ inline std::int32_t factor(std::int32_t value) { return value << 8 >> 8; }
#else
__device__ inline std::int32_t factor(std::int32_t value) { return value; }
#endif

}  // namespace fusekit::hip
