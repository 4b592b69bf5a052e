// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

namespace fusekit {

/// y = max(alpha, min(beta, x)). The slope is 1 for alpha < x <= beta and else 0: at alpha = 0 that is ClippedRelu's
/// slope.
struct Clamp {
    static constexpr auto equation = "y = max(alpha, min(beta, x))";
    struct Args {
        float alpha = 0.0f, beta = 6.0f;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return (math::max)((math::min)(x, args.beta), args.alpha);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const& args) {
        V const unclipped = math::select(x <= args.beta, V{} + 1.0f, V{});
        return math::keep_nan(x, math::select(x > args.alpha, unclipped, V{}));
    }
};

}  // namespace fusekit
