// SPDX-License-Identifier: MIT
#pragma once

namespace hip_on_cpu {

/// Operand types of matrix instructions. TF32 is the upper 19 bits of a float. The 8-bit floats are the last
/// enumerators.
enum class Factor { half, bfloat16, int8, tf32, float32, e4m3, e5m2, e4m3_fnuz, e5m2_fnuz };

}  // namespace hip_on_cpu
