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

/// Not instrumented by sanitizers: they check the instructions' operands, and the rows a and b are copies of those.
#define HIP_ON_CPU_UNCHECKED __attribute__((no_sanitize("address", "undefined")))

/// Returns `sum` plus the `count` products a[k] * b[k], added sequentially.
HIP_ON_CPU_UNCHECKED inline double sum_of_products(double sum, double const* a, double const* b, unsigned count) {
    for (unsigned k = 0; k < count; ++k) sum += a[k] * b[k];
    return sum;
}

/// Exponent of a finite value, at least `least`; -1000 of 0, and 1024 of infinities and NaN. The value is no subnormal
/// double.
HIP_ON_CPU_UNCHECKED inline int exponent_of(double value, int least) {
    int const exponent = static_cast<int>(__builtin_bit_cast(std::uint64_t, value) >> 52 & 0x7ff) - 1023;
    return value == 0 ? -1000 : exponent < least ? least : exponent;
}
HIP_ON_CPU_UNCHECKED inline double power_of_two(int exponent) {
    return __builtin_bit_cast(double, static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// Returns `sum` plus `count` products of 8-bit floats as NVIDIA's matrix units add them: each addend is truncated 13
/// bits below the largest exponent, and so is the result, below its own exponent. A product's exponent is the sum of
/// its factors'; a subnormal factor has the smallest exponent. Source: Xie, Wang, Yang, Yang, "MMA-Sim: Bit-Accurate
/// Reference Model of Tensor Cores and Matrix Cores", arXiv 2511.10909, for wgmma on Hopper and mma.sync on Ada.
HIP_ON_CPU_UNCHECKED inline float float8_sum(Factor factor, double sum, double const* a, double const* b,
                                             unsigned count) {
    constexpr int fraction_bits = 13, infinite = 1024;
    int const smallest = factor == Factor::e4m3 ? -6 : -14, of_sum = exponent_of(sum, -126);
    int largest = of_sum, largest_factor = of_sum;
    for (unsigned k = 0; k < count; ++k) {
        int const of_a = exponent_of(a[k], smallest), of_b = exponent_of(b[k], smallest);
        largest = of_a + of_b > largest ? of_a + of_b : largest;
        largest_factor = of_a > largest_factor ? of_a : largest_factor;
        largest_factor = of_b > largest_factor ? of_b : largest_factor;
    }
    if (largest_factor == infinite) return static_cast<float>(sum_of_products(sum, a, b, count));
    // Addends in units of the last bit that is kept: integers below 2^15.
    double const unit = power_of_two(largest - fraction_bits), units_of_1 = power_of_two(fraction_bits - largest);
    int units = static_cast<int>(sum * units_of_1);
    for (unsigned k = 0; k < count; ++k) units += static_cast<int>(a[k] * b[k] * units_of_1);
    if (units == 0) return 0;
    double const result = units * unit;
    int const of_result = exponent_of(result, -126);
    return static_cast<float>(static_cast<int>(result * power_of_two(fraction_bits - of_result)) *
                              power_of_two(of_result - fraction_bits));
}

#undef HIP_ON_CPU_UNCHECKED

}  // namespace hip_on_cpu
