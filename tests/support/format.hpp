// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "fusekit/tensor/dtype.hpp"

/// Floating-point formats by their definition (IEEE 754-2019, section 3.4), for tests: converts by arithmetic in
/// double, without the library's bit manipulation. Also int8, without exponent and saturating, and 8-bit floats (OFP8),
/// saturating: OCP's, and AMD's FNUZ formats, whose bias is larger by one and whose only NaN has the code of negative
/// zero.
namespace test {

struct Format {
    /// Codes without a number: IEEE's infinities and NaN; one NaN instead of the largest code, or of negative zero.
    enum class Special { ieee, largest, negative_zero };

    int exponent_bits, fraction_bits;
    Special special = Special::ieee;

    bool is_integer() const { return exponent_bits == 0; }

    bool is_float8() const { return exponent_bits + fraction_bits == 7 && !is_integer(); }
    bool has_unsigned_zero() const { return special == Special::negative_zero; }

    int bias() const { return (1 << (exponent_bits - 1)) - (has_unsigned_zero() ? 0 : 1); }

    /// Distance between adjacent values at the magnitude of `value`.
    double spacing(double value) const {
        if (is_integer()) return 1;
        int exponent = 0;
        std::frexp(value, &exponent);  // |value| = m 2^exponent, m in [1/2, 1)
        int const lowest = 1 - bias();
        if (value == 0 || exponent - 1 < lowest) exponent = lowest + 1;
        return std::ldexp(1.0, exponent - 1 - fraction_bits);
    }

    double largest() const {
        int const exponent = (1 << exponent_bits) - (special == Special::ieee ? 2 : 1) - bias();
        return std::ldexp(2.0 - std::ldexp(special == Special::largest ? 2.0 : 1.0, -fraction_bits), exponent);
    }

    /// Nearest value of the format, ties to even; from half a spacing above the largest value on, infinity, or the
    /// largest if the format saturates.
    double round(double value) const {
        if (is_integer()) return std::isnan(value) ? 0 : saturated(std::nearbyint(value));
        if (is_float8()) value = saturated(value);
        if (!std::isfinite(value)) return value;
        double const step = spacing(value), rounded = std::nearbyint(value / step) * step;
        return std::fabs(rounded) > largest() ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded;
    }

    /// Clamps to the range of a saturating format.
    double saturated(double value) const {
        if (is_float8()) return std::fabs(value) > largest() ? std::copysign(largest(), value) : value;
        return is_integer() ? std::fmax(-128, std::fmin(value, 127)) : value;
    }

    /// Bits of a representable value; NaN gives a quiet NaN.
    std::uint64_t encode(double value) const {
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

    double decode(std::uint64_t bits) const {
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
        return sign * std::ldexp(1 + std::ldexp(static_cast<double>(fraction), -fraction_bits),
                                 static_cast<int>(field) - bias());
    }
};

inline Format format_of(fusekit::DataType type) {
    switch (type) {
        case fusekit::DataType::float32: return {8, 23};
        case fusekit::DataType::float16: return {5, 10};
        case fusekit::DataType::float64: return {11, 52};
        case fusekit::DataType::int8: return {0, 7};
        case fusekit::DataType::float8_e4m3: return {4, 3, Format::Special::largest};
        case fusekit::DataType::float8_e5m2: return {5, 2};
        case fusekit::DataType::float8_e4m3_fnuz: return {4, 3, Format::Special::negative_zero};
        case fusekit::DataType::float8_e5m2_fnuz: return {5, 2, Format::Special::negative_zero};
        default: return {8, 7};
    }
}

}  // namespace test
