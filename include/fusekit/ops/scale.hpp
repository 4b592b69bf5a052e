// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/ops/operator.hpp"

namespace fusekit {

namespace detail {

/// Type of Scale's argument: one factor for all elements. A constructor from any other type, such as a view of factors
/// per channel, does not compile; its static_assert names Requantize.
struct ScaleFactor {
    float value;

    FUSEKIT_HD constexpr ScaleFactor(float factor) : value(factor) {}
    template <class Source>
        requires(!std::is_convertible_v<Source const&, float>)
    FUSEKIT_H constexpr ScaleFactor(Source const&) : value(0) {
        constexpr bool is_number = std::is_convertible_v<Source const&, float>;
        static_assert(
            is_number,
            "Scale.factor must be one number, not this (Source): for factors per channel use Requantize, x * scale[k]");
    }
    FUSEKIT_HD constexpr operator float() const { return value; }
};

}  // namespace detail

/// y = factor * x
///
/// Arguments: factor, one number. Requantize scales per channel.
struct Scale {
    static constexpr auto stage = Stage::pointwise;
    static constexpr auto equation = "y = factor * x";
    struct Args {
        detail::ScaleFactor factor = 1.0f;
    };

    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return args.factor.value * x;
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V, Args const& args) {
        return V{} + args.factor.value;
    }
};

}  // namespace fusekit
