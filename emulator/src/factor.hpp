// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "hip_on_cpu/factor.hpp"

namespace hip_on_cpu {

constexpr unsigned bytes_of(Factor factor) {
    return factor == Factor::int8 ? 1 : factor == Factor::tf32 || factor == Factor::float32 ? 4 : 2;
}

inline double value_of(Factor factor, unsigned bits) {
    if (factor == Factor::int8) return static_cast<std::int8_t>(bits);
    if (factor == Factor::bfloat16) return std::bit_cast<float>(bits << 16);
    if (factor == Factor::tf32) return std::bit_cast<float>(bits >> 13 << 13);
    if (factor == Factor::float32) return std::bit_cast<float>(bits);
    int const exponent = static_cast<int>(bits >> 10 & 31), mantissa = static_cast<int>(bits & 1023);
    double const magnitude = exponent == 31  ? (mantissa ? NAN : HUGE_VAL)
                             : exponent == 0 ? std::ldexp(mantissa, -24)
                                             : std::ldexp(1024 + mantissa, exponent - 25);
    return bits >> 15 ? -magnitude : magnitude;
}

}  // namespace hip_on_cpu
