// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {

/// Returns an operand of a multiplication unchanged. Integer operands have at most 24 bits here, which two shifts tell
/// AMD's compiler without generating code: AMD multiplies 24-bit integers at full rate, but 32-bit integers at a
/// quarter of it.
__device__ inline float factor(float value) { return value; }
#if defined(__HIP_PLATFORM_AMD__)
__device__ inline std::int32_t factor(std::int32_t value) { return value << 8 >> 8; }
#else
__device__ inline std::int32_t factor(std::int32_t value) { return value; }
#endif

}  // namespace fusekit::hip
