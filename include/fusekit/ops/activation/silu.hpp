// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

/// SiLU (swish): y = x / (1 + exp(-x)). Source: Elfwing, Uchibe and Doya 2017.
struct Silu {
    static constexpr auto equation = "y = x / (1 + exp(-x))";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return (math::max)(x, -750.0f) * math::logistic(x);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        V const clamped = (math::min)((math::max)(x, -750.0f), 750.0f);
        return math::logistic(clamped) * (1.0f + clamped * math::logistic(-clamped));
    }
};

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
