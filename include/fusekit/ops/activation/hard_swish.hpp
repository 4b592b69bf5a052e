// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

namespace fusekit {

/// Source: Howard et al. 2019 (MobileNetV3).
/// The slope is 0 for x <= -3 and 1 for x >= 3, those of the straight lines.
struct HardSwish {
    static constexpr auto equation = "y = x * min(max(x + 3, 0), 6) / 6";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return (math::max)(x, -3.0f) * ((math::min)((math::max)(x + 3.0f, 0.0f), 6.0f) / 6.0f);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        V const curve = (2.0f * x + 3.0f) / 6.0f;
        return math::keep_nan(x, math::select(x >= 3.0f, V{} + 1.0f, math::select(x > -3.0f, curve, V{})));
    }
};

}  // namespace fusekit
