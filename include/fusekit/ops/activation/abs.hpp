// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

namespace fusekit {

/// y = |x|. The slope at 0 is 0, halfway between the one-sided slopes; MIOpen uses -1.
struct Abs {
    static constexpr auto equation = "y = |x|";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return (math::abs)(x);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        V const below = math::select(x < 0.0f, V{} - 1.0f, V{});
        return math::keep_nan(x, math::select(x > 0.0f, V{} + 1.0f, below));
    }
};

}  // namespace fusekit
