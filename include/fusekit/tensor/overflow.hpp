// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/config.hpp"

namespace fusekit::detail {

/// Sets `result` to a * b and returns true if the product overflows 64 bits. Unlike the compilers' builtins also
/// evaluated by nvcc at compile time, where an overflow is an error.
FUSEKIT_H constexpr bool mul_overflows(std::int64_t a, std::int64_t b, std::int64_t& result) {
    if (!std::is_constant_evaluated()) return __builtin_mul_overflow(a, b, &result);
    result = a * b;
    return false;
}
/// Sets `result` to a + b and returns true if the sum overflows 64 bits, as mul_overflows().
FUSEKIT_H constexpr bool add_overflows(std::int64_t a, std::int64_t b, std::int64_t& result) {
    if (!std::is_constant_evaluated()) return __builtin_add_overflow(a, b, &result);
    result = a + b;
    return false;
}

}  // namespace fusekit::detail
