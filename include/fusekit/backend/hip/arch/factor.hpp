// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/platform.hpp"

namespace fusekit::hip {

/// A factor of a product, as it is; integers have 24 bits at most. AMD's processors multiply those at full speed, 32
/// bits at a quarter of it: shifts that its compiler removes let it know.
__device__ inline float factor(float value) { return value; }
#if defined(__HIP_PLATFORM_AMD__)
__device__ inline std::int32_t factor(std::int32_t value) { return value << 8 >> 8; }
#else
__device__ inline std::int32_t factor(std::int32_t value) { return value; }
#endif

}  // namespace fusekit::hip
