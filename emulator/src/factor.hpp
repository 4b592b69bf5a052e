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

/// Exponent of a finite value, at least `least`; -1000 of 0, and 1024 of infinities and NaN. The value is no subnormal
/// double.
HIP_ON_CPU_UNCHECKED inline int exponent_of(double value, int least) {
    int const exponent = static_cast<int>(__builtin_bit_cast(std::uint64_t, value) >> 52 & 0x7ff) - 1023;
    return value == 0 ? -1000 : exponent < least ? least : exponent;
}
HIP_ON_CPU_UNCHECKED inline double power_of_two(int exponent) {
    return __builtin_bit_cast(double, static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// Adds to `sums[column]` the products a[k] * b[k * columns + column], in sequence over k.
HIP_ON_CPU_UNCHECKED inline void add_products(double* sums, double const* a, double const* b, unsigned depth,
                                              unsigned columns) {
    for (unsigned k = 0; k < depth; ++k)
        for (unsigned column = 0; column < columns; ++column) sums[column] += a[k] * b[k * columns + column];
}

/// Exponents of the factors of 8-bit floats; a subnormal factor has the smallest exponent.
HIP_ON_CPU_UNCHECKED inline void exponents_of(Factor factor, int* exponents, double const* values, unsigned count) {
    int const smallest = factor == Factor::e4m3 ? -6 : -14;
    for (unsigned i = 0; i < count; ++i) exponents[i] = exponent_of(values[i], smallest);
}

/// The largest N of a matrix instruction, and the largest K of one of 8-bit floats.
constexpr unsigned most_columns = 256, most_depth = 32;

/// Adds to `sums[column]`, which are floats, `depth` products of 8-bit floats a[k] * b[k * columns + column], as
/// NVIDIA's matrix units add them: each addend is truncated 13 bits below the largest exponent, and so is the result,
/// below its own exponent. A product's exponent is the sum of its factors', `of_a` and `of_b` (exponents_of). Source:
/// Xie, Wang, Yang, Yang, "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores", arXiv 2511.10909,
/// for wgmma on Hopper and mma.sync on Ada.
HIP_ON_CPU_UNCHECKED inline void add_float8_products(double* sums, double const* a, int const* of_a, double const* b,
                                                     int const* of_b, unsigned depth, unsigned columns) {
    constexpr int fraction_bits = 13, infinite = 1024;
    int largest[most_columns], units[most_columns];
    double units_of_1[most_columns];
    int largest_factor = -1000;
    for (unsigned column = 0; column < columns; ++column) {
        largest[column] = exponent_of(sums[column], -126);
        largest_factor = largest[column] > largest_factor ? largest[column] : largest_factor;
    }
    for (unsigned k = 0; k < depth; ++k) {
        largest_factor = of_a[k] > largest_factor ? of_a[k] : largest_factor;
        for (unsigned column = 0; column < columns; ++column) {
            int const own = of_b[k * columns + column], sum = of_a[k] + own;
            largest[column] = sum > largest[column] ? sum : largest[column];
            largest_factor = own > largest_factor ? own : largest_factor;
        }
    }
    if (largest_factor == infinite) {  // infinities and NaN: one column at a time
        for (unsigned column = 0; column < columns; ++column) {
            if (columns == 1) {
                add_products(sums, a, b, depth, 1);
                sums[0] = static_cast<float>(sums[0]);
                return;
            }
            double one[most_depth];
            int of_one[most_depth];
            for (unsigned k = 0; k < depth; ++k)
                one[k] = b[k * columns + column], of_one[k] = of_b[k * columns + column];
            add_float8_products(&sums[column], a, of_a, one, of_one, depth, 1);
        }
        return;
    }
    // Addends in units of the last bit that is kept: integers below 2^15.
    for (unsigned column = 0; column < columns; ++column) {
        units_of_1[column] = power_of_two(fraction_bits - largest[column]);
        units[column] = static_cast<int>(sums[column] * units_of_1[column]);
    }
    for (unsigned k = 0; k < depth; ++k)
        for (unsigned column = 0; column < columns; ++column)
            units[column] += static_cast<int>(a[k] * b[k * columns + column] * units_of_1[column]);
    for (unsigned column = 0; column < columns; ++column) {
        double const result = units[column] * power_of_two(largest[column] - fraction_bits);
        int const of_result = units[column] == 0 ? 0 : exponent_of(result, -126);
        sums[column] = static_cast<float>(static_cast<int>(result * power_of_two(fraction_bits - of_result)) *
                                          power_of_two(of_result - fraction_bits));
    }
}

#undef HIP_ON_CPU_UNCHECKED

}  // namespace hip_on_cpu
