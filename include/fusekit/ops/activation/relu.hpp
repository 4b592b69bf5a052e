// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

namespace fusekit {

/// y = max(x, 0). The slope at x = 0 is 0, as in MIOpen.
struct Relu {
    static constexpr auto equation = "y = max(x, 0)";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return (math::max)(x, 0.0f);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        return math::keep_nan(x, math::select(x > 0.0f, V{} + 1.0f, V{}));
    }
};

}  // namespace fusekit
