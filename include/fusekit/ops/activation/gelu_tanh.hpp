// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

/// GELU in its tanh approximation. Source: Hendrycks and Gimpel 2016.
struct GeluTanh {
    static constexpr auto equation = "y = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2";
    struct Args {};
    // (1 + tanh u) / 2 = logistic(2 u), and 2 u = x (inner + cubic x^2)
    template <class V>
    static constexpr auto inner = math::Scalar<V>(1.5957691216057308);
    template <class V>
    static constexpr auto cubic = math::Scalar<V>(0.07135481627260026);
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        // outside [-22, 22] the factor of x rounds to 0 or 1
        V const clamped = (math::min)((math::max)(x, -22.0f), 22.0f);
        return (math::max)(x, -22.0f) * math::logistic(clamped * (inner<V> + cubic<V> * clamped * clamped));
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        V const clamped = (math::min)((math::max)(x, -22.0f), 22.0f), square = clamped * clamped;
        V const argument = clamped * (inner<V> + cubic<V> * square), rate = inner<V> + 3.0f * cubic<V> * square;
        return math::logistic(argument) * (1.0f + clamped * rate * math::logistic(-argument));
    }
};

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
