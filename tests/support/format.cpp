// SPDX-License-Identifier: MIT
#include "support/format.hpp"

#include <cmath>
#include <limits>

namespace test {

double Format::spacing(double value) const {
    if (is_integer()) return 1;
    int exponent = 0;
    std::frexp(value, &exponent);  // |value| = m 2^exponent, m in [1/2, 1)
    int const lowest = 1 - bias();
    if (value == 0 || exponent - 1 < lowest) exponent = lowest + 1;
    return std::ldexp(1.0, exponent - 1 - fraction_bits);
}

double Format::largest() const {
    int const exponent = (1 << exponent_bits) - (special == Special::ieee ? 2 : 1) - bias();
    return std::ldexp(2.0 - std::ldexp(special == Special::largest ? 2.0 : 1.0, -fraction_bits), exponent);
}

double Format::round(double value) const {
    if (is_integer()) return std::isnan(value) ? 0 : saturated(std::nearbyint(value));
    if (is_float8()) value = saturated(value);
    if (!std::isfinite(value)) return value;
    double const step = spacing(value), rounded = std::nearbyint(value / step) * step;
    return std::fabs(rounded) > largest() ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded;
}

double Format::saturated(double value) const {
    if (is_float8()) return std::fabs(value) > largest() ? std::copysign(largest(), value) : value;
    return is_integer() ? std::fmax(-128, std::fmin(value, 127)) : value;
}

std::uint64_t Format::encode(double value) const {
    if (is_integer()) return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) & 0xff;
    if (has_unsigned_zero() && std::isnan(value)) return 0x80;
    if (has_unsigned_zero() && value == 0) return 0;
    if (special == Special::largest && std::isnan(value)) return 0x7f;
    std::uint64_t const sign = std::signbit(value) ? std::uint64_t{1} << (exponent_bits + fraction_bits) : 0u;
    std::uint64_t const all_ones = ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits;
    if (std::isnan(value)) return sign | all_ones | std::uint64_t{1} << (fraction_bits - 1);
    if (std::isinf(value)) return sign | all_ones;
    double const magnitude = std::fabs(value), unit = std::ldexp(1.0, 1 - bias() - fraction_bits);
    if (magnitude < std::ldexp(1.0, 1 - bias())) return sign | static_cast<std::uint64_t>(magnitude / unit);
    int exponent = 0;
    double const fraction = std::frexp(magnitude, &exponent) * 2 - 1;
    return sign | static_cast<std::uint64_t>(exponent - 1 + bias()) << fraction_bits |
           static_cast<std::uint64_t>(std::ldexp(fraction, fraction_bits));
}

double Format::decode(std::uint64_t bits) const {
    if (is_integer()) return bits < 128 ? static_cast<double>(bits) : static_cast<double>(bits) - 256;
    std::uint64_t const field = bits >> fraction_bits & ((std::uint64_t{1} << exponent_bits) - 1);
    std::uint64_t const fraction = bits & ((std::uint64_t{1} << fraction_bits) - 1);
    double const sign = bits >> (exponent_bits + fraction_bits) & 1u ? -1 : 1;
    bool const ones = field == (std::uint64_t{1} << exponent_bits) - 1,
               is_largest = ones && fraction == (std::uint64_t{1} << fraction_bits) - 1;
    if (has_unsigned_zero() ? bits == 0x80 : special == Special::largest && is_largest)
        return std::numeric_limits<double>::quiet_NaN();
    if (ones && special == Special::ieee)
        return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
    if (field == 0) return sign * std::ldexp(static_cast<double>(fraction), 1 - bias() - fraction_bits);
    return sign *
           std::ldexp(1 + std::ldexp(static_cast<double>(fraction), -fraction_bits), static_cast<int>(field) - bias());
}

}  // namespace test
