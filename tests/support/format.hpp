// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/tensor/dtype.hpp"

/// Floating-point formats by their definition (IEEE 754-2019, section 3.4), for tests: converts by arithmetic in
/// double, without the library's bit manipulation. Also int8, without exponent and saturating, and 8-bit floats (OFP8),
/// saturating: OCP's, and AMD's FNUZ formats, whose bias is larger by one and whose only NaN has the code of negative
/// zero. Conversions are compiled in one unit, which sanitized builds optimise.
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
    double spacing(double value) const;

    double largest() const;

    /// Nearest value of the format, ties to even; from half a spacing above the largest value on, infinity, or the
    /// largest if the format saturates.
    double round(double value) const;

    /// Clamps to the range of a saturating format.
    double saturated(double value) const;

    /// Bits of a representable value; NaN gives a quiet NaN.
    std::uint64_t encode(double value) const;

    double decode(std::uint64_t bits) const;
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
