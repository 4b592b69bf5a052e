// SPDX-License-Identifier: MIT
#pragma once

namespace hip_on_cpu {

/// What matrix instructions multiply.
enum class Factor { half, bfloat16, int8 };

}  // namespace hip_on_cpu
