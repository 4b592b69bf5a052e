// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>

#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {}

namespace bench {

using namespace fusekit::hip;  // where HIP's names are on a platform that has none of its own

/// Throws std::runtime_error, with the GPU runtime's own words, where `call` did not succeed.
inline void require(hipError_t status, char const* call) {
    if (status != hipSuccess) throw std::runtime_error(std::string(call) + ": " + hipGetErrorString(status));
}

}  // namespace bench
