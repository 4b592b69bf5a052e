// SPDX-License-Identifier: MIT
#pragma once

namespace hip_on_cpu {

/// What matrix instructions multiply. Of TF32, a float, they see the upper 19 bits. 8-bit floats come last.
enum class Factor { half, bfloat16, int8, tf32, float32, e4m3, e5m2, e4m3_fnuz, e5m2_fnuz };

}  // namespace hip_on_cpu
