// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/config.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

namespace detail {

/// An 8-bit floating-point format: 1 sign bit, 7 - Mantissa exponent bits, Mantissa bits. Code 0x00 is zero, and
/// exponent 0 is subnormal, as in IEEE 754. OCP formats have a negative zero; e5m2 has IEEE's infinities and NaN, and
/// e4m3 has one NaN of each sign, in the code after that of 448. FNUZ formats ("finite, NaN, unsigned zero") have one
/// NaN, in the code of negative zero, and a bias larger by one. Sources: Open Compute Project, OCP 8-bit Floating Point
/// Specification (OFP8), revision 1.0; AMD, "AMD Instinct MI300" instruction set architecture, section 6.
template <int Mantissa, bool is_fnuz>
struct Float8Format {
    static_assert(Mantissa == 3 || Mantissa == 2);
    static constexpr int bias = (1 << (6 - Mantissa)) - (is_fnuz ? 0 : 1);
    static constexpr std::uint32_t nan = is_fnuz ? 0x80 : 0x7f, largest = is_fnuz ? 0x7f : Mantissa == 3 ? 0x7e : 0x7b;

    static constexpr int shift = 23 - Mantissa;  ///< bits from the last mantissa bit of a code to that of a float
    static constexpr std::uint32_t rebias = static_cast<std::uint32_t>(127 - bias) << 23,
                                   smallest_normal = rebias + (1u << 23);

    /// Encodes one float, or a CPU vector of floats: rounds to nearest even and saturates. NaN stays NaN.
    template <class Words, class Floats>
    FUSEKIT_HD static constexpr Words encode(Floats value) {
        auto const bits = config::bit_cast<Words>(value);
        Words const magnitude = bits & 0x7fffffffu, sign = bits >> 24 & 0x80u;
        // Adding `aligner` to a subnormal moves its last bit to the last bit of a float's mantissa, so that the
        // addition rounds.
        constexpr auto aligner = config::bit_cast<float>(smallest_normal + (static_cast<std::uint32_t>(shift) << 23));
        Words const subnormal = config::bit_cast<Words>(config::bit_cast<Floats>(magnitude) + aligner) -
                                config::bit_cast<std::uint32_t>(aligner);
        Words const normal = (magnitude - rebias + ((1u << (shift - 1)) - 1) + (magnitude >> shift & 1u)) >> shift;
        Words const rounded = magnitude < smallest_normal ? subnormal : normal;
        Words const kept = rounded > largest ? Words{} + largest : rounded;
        return magnitude > 0x7f800000u ? Words{} + nan : with_sign(kept, sign);
    }

    /// Decodes codes to floats, exactly.
    template <class Floats, class Words>
    FUSEKIT_HD static constexpr Floats decode(Words code) {
        Words const magnitude = code & 0x7fu, sign = (code & 0x80u) << 24;
        // Decodes a subnormal as (smallest_normal with the code's mantissa bits) - smallest_normal.
        auto const raised = config::bit_cast<Floats>((magnitude << shift) + smallest_normal);
        auto const subnormal = config::bit_cast<Words>(raised - config::bit_cast<float>(smallest_normal));
        Words const number = magnitude < (1u << Mantissa) ? subnormal : (magnitude << shift) + rebias;
        return config::bit_cast<Floats>(with_special(code, magnitude, number | sign));
    }

private:
    template <class Words>
    FUSEKIT_HD static constexpr Words with_sign(Words magnitude, Words sign) {
        if constexpr (is_fnuz) return magnitude == 0u ? magnitude : magnitude | sign;
        else return magnitude | sign;
    }
    template <class Words>
    FUSEKIT_HD static constexpr Words with_special(Words code, Words magnitude, Words number) {
        constexpr std::uint32_t quiet = 0x7fc00000, infinity = 0x7f800000;
        Words const negative = (code & 0x80u) << 24;
        if constexpr (is_fnuz) {
            return code == nan ? Words{} + quiet : number;
        } else if constexpr (Mantissa == 3) {
            return magnitude > largest ? negative + quiet : number;
        } else {
            Words const special = magnitude > largest + 1 ? negative + quiet : negative + infinity;
            return magnitude > largest ? special : number;
        }
    }
};

}  // namespace detail

/// 8-bit floating-point number as a storage type: arithmetic is in float. Conversion rounds to nearest even and
/// saturates: larger values and infinities become the largest number. NaN stays NaN.
template <int Mantissa, bool is_fnuz>
struct Float8 {
    using Format = detail::Float8Format<Mantissa, is_fnuz>;
    std::uint8_t bits = 0;

    FUSEKIT_H Float8() = default;
    FUSEKIT_HD constexpr explicit(false) Float8(float value) : bits(bits_of(value)) {}
    FUSEKIT_HD constexpr operator float() const {
        if constexpr (config::has_float8 && !is_fnuz)
            if (!std::is_constant_evaluated()) return config::float8_to_float<Mantissa>(bits);
        return Format::template decode<float>(std::uint32_t{bits});
    }

private:
    FUSEKIT_HD static constexpr std::uint8_t bits_of(float value) {
        if constexpr (config::has_float8 && !is_fnuz)
            if (!std::is_constant_evaluated())
                return static_cast<std::uint8_t>(config::floats_to_float8<Mantissa>(value, 0));
        return static_cast<std::uint8_t>(Format::template encode<std::uint32_t>(value));
    }
};

/// OCP formats; the largest number is 448 with 3 mantissa bits, 57344 with 2.
using e4m3 = Float8<3, false>;
using e5m2 = Float8<2, false>;
/// FNUZ formats of AMD's gfx942; the largest number is 240 with 3 mantissa bits, 57344 with 2.
using e4m3_fnuz = Float8<3, true>;
using e5m2_fnuz = Float8<2, true>;

namespace detail {

template <class T>
inline constexpr bool is_float8 = false;
template <int Mantissa, bool is_fnuz>
inline constexpr bool is_float8<Float8<Mantissa, is_fnuz>> = true;

}  // namespace detail

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
