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
        V const y = math::divide(finite, 1.0f + (math::abs)(finite));
        // a GPU's quotient of equal numbers may exceed 1
        if constexpr (math::detail::has_instructions<V>) return (math::min)((math::max)(y, -1.0f), 1.0f);
        else return y;
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        V const share = 1.0f / (1.0f + (math::abs)(x));
        return share * share;  // the square of 1 + |x| would overflow
    }
};

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
