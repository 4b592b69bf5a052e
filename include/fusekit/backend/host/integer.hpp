// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/integer.hpp"

/// min, max and clamp of std::int64_t: mixed integer types need no casts, and <algorithm> is not included.
namespace fusekit::host {

FUSEKIT_H constexpr std::int64_t(min)(std::int64_t a, std::int64_t b) { return b < a ? b : a; }
FUSEKIT_H constexpr std::int64_t(max)(std::int64_t a, std::int64_t b) { return a < b ? b : a; }
FUSEKIT_H constexpr std::int64_t clamp(std::int64_t value, std::int64_t low, std::int64_t high) {
    return (max)(low, (min)(value, high));
}
FUSEKIT_H constexpr std::int64_t round_up(std::int64_t a, std::int64_t multiple) {
    return detail::divide_up(a, multiple) * multiple;
}

}  // namespace fusekit::host
