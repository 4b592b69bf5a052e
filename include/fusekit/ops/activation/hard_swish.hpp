// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

/// y = x * min(max(x + 3, 0), 6) / 6. The slope is 0 for x <= -3 and 1 for x >= 3; at these two kinks that is the slope
/// of the outer, linear part. Source: Howard et al. 2019 (MobileNetV3).
struct HardSwish {
    static constexpr auto equation = "y = x * min(max(x + 3, 0), 6) / 6";
    struct Args {};
    template <class V>
    static constexpr auto sixth = math::Scalar<V>(1) / 6;
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return (math::max)(x, -3.0f) * math::assoc_barrier((math::min)((math::max)(x + 3.0f, 0.0f), 6.0f) * sixth<V>);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        V const curve = math::divide_exactly(math::assoc_barrier(2.0f * x + 3.0f), V{} + 6.0f);
        return math::keep_nan(x, math::select(x >= 3.0f, V{} + 1.0f, math::select(x > -3.0f, curve, V{})));
    }
};

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
