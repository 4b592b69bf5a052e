// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "hip_on_cpu/factor.hpp"

namespace hip_on_cpu {

constexpr bool is_float8(Factor factor) { return factor >= Factor::e4m3; }
constexpr unsigned bytes_of(Factor factor) {
    if (factor == Factor::int8 || is_float8(factor)) return 1;
    return factor == Factor::tf32 || factor == Factor::float32 ? 4 : 2;
}

/// Value of an 8-bit float with the bits `bits`: of OCP's formats, or of AMD's FNUZ formats, which have no infinities
/// and no negative zero, and exponents that are one less.
inline double float8_of(Factor factor, unsigned bits) {
    bool const fnuz = factor == Factor::e4m3_fnuz || factor == Factor::e5m2_fnuz;
    int const fraction_bits = factor == Factor::e4m3 || factor == Factor::e4m3_fnuz ? 3 : 2;
    int const ones = (1 << (7 - fraction_bits)) - 1, bias = ones / 2 + fnuz;
    int const exponent = static_cast<int>(bits >> fraction_bits) & ones,
              fraction = static_cast<int>(bits) & ((1 << fraction_bits) - 1);
    if (fnuz && bits == 0x80) return NAN;
    if (factor == Factor::e4m3 && exponent == ones && fraction == 7) return NAN;
    bool const is_infinite = factor == Factor::e5m2 && exponent == ones;
    double const magnitude = is_infinite ? (fraction ? NAN : HUGE_VAL)
                             : exponent == 0
                                 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                                 : std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
    return bits >> 7 ? -magnitude : magnitude;
}

inline double value_of(Factor factor, unsigned bits) {
    if (factor == Factor::int8) return static_cast<std::int8_t>(bits);
    if (is_float8(factor)) return float8_of(factor, bits & 0xff);
    if (factor == Factor::bfloat16) return std::bit_cast<float>(bits << 16);
    if (factor == Factor::tf32) return std::bit_cast<float>(bits >> 13 << 13);
    if (factor == Factor::float32) return std::bit_cast<float>(bits);
    int const exponent = static_cast<int>(bits >> 10 & 31), mantissa = static_cast<int>(bits & 1023);
    double const magnitude = exponent == 31  ? (mantissa ? NAN : HUGE_VAL)
                             : exponent == 0 ? mantissa * 0x1p-24
                                             : (1024 + mantissa) * (0x1p-25 * static_cast<double>(1u << exponent));
    return bits >> 15 ? -magnitude : magnitude;
}

/// Returns `sum` plus the `count` products a[k] * b[k], added sequentially. Not instrumented by sanitizers: they check
/// the instructions' operands, and the rows a and b are copies of those.
__attribute__((no_sanitize("address", "undefined"))) inline double sum_of_products(double sum, double const* a,
                                                                                   double const* b, unsigned count) {
    for (unsigned k = 0; k < count; ++k) sum += a[k] * b[k];
    return sum;
}

/// Returns `sum` plus `count` products of 8-bit floats as NVIDIA's matrix units add them: each addend is truncated 13
/// bits below the largest exponent, and so is the result, below its own exponent. A product's exponent is the sum of
/// its factors'; a subnormal factor has the smallest exponent. Source: Xie, Wang, Yang, Yang, "MMA-Sim: Bit-Accurate
/// Reference Model of Tensor Cores and Matrix Cores", arXiv 2511.10909, for wgmma on Hopper and mma.sync on Ada.
inline float float8_sum(Factor factor, double sum, double const* a, double const* b, unsigned count) {
    constexpr int fraction_bits = 13, none = -1000;
    int const smallest = factor == Factor::e4m3 ? -6 : -14;
    auto const exponent = [](double value, int least) {
        return value == 0 ? none : std::max(std::ilogb(value), least);
    };
    double exact = sum;
    int largest = exponent(sum, -126);
    for (unsigned k = 0; k < count; ++k) {
        exact += a[k] * b[k];
        largest = std::max(largest, exponent(a[k], smallest) + exponent(b[k], smallest));
    }
    if (!std::isfinite(exact)) return static_cast<float>(exact);
    auto const cut_off = [](double value, int of_exponent) {
        double const last = std::ldexp(1.0, of_exponent - fraction_bits);
        return std::trunc(value / last) * last;
    };
    double result = cut_off(sum, largest);
    for (unsigned k = 0; k < count; ++k) result += cut_off(a[k] * b[k], largest);
    return static_cast<float>(result == 0 ? 0 : cut_off(result, exponent(result, -126)));
}

}  // namespace hip_on_cpu
