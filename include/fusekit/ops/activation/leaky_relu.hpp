// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

namespace fusekit {

/// y = x for x > 0, else alpha * x. The slope at x = 0 is alpha, as in MIOpen.
struct LeakyRelu {
    static constexpr auto equation = "y = x > 0 ? x : alpha * x";
    struct Args {
        float alpha = 0.01f;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return math::select(x > 0.0f, x, args.alpha * x);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const& args) {
        return math::keep_nan(x, math::select(x > 0.0f, V{} + 1.0f, V{} + args.alpha));
    }
};

}  // namespace fusekit
