// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

struct Logistic {
    static constexpr auto equation = "y = 1 / (1 + exp(-x))";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return math::logistic(x);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        V const e = math::exp_fast(-(math::abs)(x)), sum = e + 1.0f;  // 1 - y would cancel
        return math::divide(e, sum * sum);
    }
};

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
