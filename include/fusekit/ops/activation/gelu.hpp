// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/math.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

/// GELU in its exact form, with erf. Source: Hendrycks and Gimpel 2016.
struct Gelu {
    static constexpr auto equation = "y = x * (1 + erf(x / sqrt(2))) / 2";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        // normal_cdf(x) rounds to 0 for smaller x
        constexpr float lowest = std::is_same_v<V, double> ? -40.0f : -15.0f;
        return (math::max)(x, lowest) * math::normal_cdf(x);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        // the normal density rounds to 0 outside [-40, 40]
        V const clamped = (math::min)((math::max)(x, -40.0f), 40.0f);
        return math::normal_cdf(x) + clamped * math::normal_density(clamped);
    }
};

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
