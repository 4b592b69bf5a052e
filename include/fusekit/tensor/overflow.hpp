// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/config.hpp"

namespace fusekit::detail {

/// Sets `result` to a * b modulo 2^64 and returns true if the product overflows 64 bits. Unlike the compilers' builtins
/// also evaluated by nvcc at compile time.
FUSEKIT_H constexpr bool mul_overflows(std::int64_t a, std::int64_t b, std::int64_t& result) {
    if (!std::is_constant_evaluated()) return __builtin_mul_overflow(a, b, &result);
    result = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    return a == -1 ? b == INT64_MIN : a != 0 && result / a != b;
}
/// Sets `result` to a + b modulo 2^64 and returns true if the sum overflows 64 bits, as mul_overflows().
FUSEKIT_H constexpr bool add_overflows(std::int64_t a, std::int64_t b, std::int64_t& result) {
    if (!std::is_constant_evaluated()) return __builtin_add_overflow(a, b, &result);
    result = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    return ((a ^ result) & (b ^ result)) < 0;
}

/// a * factor, or 2^62 if it is more: an extent that no tensor has. Preconditions: a >= 0, factor > 0.
FUSEKIT_H constexpr std::int64_t bounded_product(std::int64_t a, std::int64_t factor) {
    constexpr std::int64_t most = std::int64_t{1} << 62;
    return a > most / factor ? most : a * factor;
}

}  // namespace fusekit::detail
