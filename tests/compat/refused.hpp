// SPDX-License-Identifier: MIT
#pragma once

#include <miopen/miopen.h>

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace test::miopen {

/// Checks that a call fails with this status and a message that contains `words`.
inline void check_refused(miopenStatus_t given, miopenStatus_t expected, char const* words) {
    CHECK(miopenGetErrorString(given) == std::string(miopenGetErrorString(expected)));
    INFO(fusekitMiopenLastError());
    CHECK(std::string(fusekitMiopenLastError()).find(words) != std::string::npos);
}

}  // namespace test::miopen
