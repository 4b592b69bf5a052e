// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

struct Softsign {
    static constexpr auto equation = "y = x / (1 + |x|)";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        V const finite = (math::min)((math::max)(x, -1e30f), 1e30f);
        return math::divide(finite, 1.0f + (math::abs)(finite));
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        V const share = 1.0f / (1.0f + (math::abs)(x));
        return share * share;  // the square of 1 + |x| would overflow
    }
};

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
