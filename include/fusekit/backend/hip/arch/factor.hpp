// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {

/// Returns an operand unchanged. Integers have at most 24 bits, which AMD multiplies at full rate, and 32 bits at a
/// quarter of it. The shifts tell the compiler so, which then removes them.
__device__ inline float factor(float value) { return value; }
#if defined(__HIP_PLATFORM_AMD__)
__device__ inline std::int32_t factor(std::int32_t value) { return value << 8 >> 8; }
#else
__device__ inline std::int32_t factor(std::int32_t value) { return value; }
#endif

}  // namespace fusekit::hip
