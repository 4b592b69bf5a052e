// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>

#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {}

namespace bench {

using namespace fusekit::hip;  // HIP's names, on a platform without HIP

/// Throws std::runtime_error with the GPU runtime's message if `call` did not succeed.
inline void require(hipError_t status, char const* call) {
    if (status != hipSuccess) throw std::runtime_error(std::string(call) + ": " + hipGetErrorString(status));
}

}  // namespace bench
