// SPDX-License-Identifier: MIT
#pragma once

namespace hip_on_cpu {

/// What matrix instructions multiply. Of TF32, a float, they see the upper 19 bits.
enum class Factor { half, bfloat16, int8, tf32, float32 };

}  // namespace hip_on_cpu
