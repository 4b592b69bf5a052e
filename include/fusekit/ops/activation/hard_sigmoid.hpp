// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

/// y = min(max(alpha * x + beta, 0), 1). The slope is alpha for 0 < alpha * x + beta < 1, else 0.
struct HardSigmoid {
    static constexpr auto equation = "y = min(max(alpha * x + beta, 0), 1)";
    struct Args {
        float alpha = 1.0f / 6.0f, beta = 0.5f;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return (math::min)((math::max)(args.alpha * x + args.beta, 0.0f), 1.0f);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const& args) {
        V const linear = args.alpha * x + args.beta;
        V const rising = math::select(linear < 1.0f, V{} + args.alpha, V{});
        return math::keep_nan(linear, math::select(linear > 0.0f, rising, V{}));
    }
};

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
