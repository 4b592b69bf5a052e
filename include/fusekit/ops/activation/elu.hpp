// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

/// y = x for x > 0, else alpha * (exp(x) - 1). The slope at x = 0 is alpha, as in MIOpen. Source: Clevert, Unterthiner
/// and Hochreiter 2015.
struct Elu {
    static constexpr auto equation = "y = x > 0 ? x : alpha * (exp(x) - 1)";
    struct Args {
        float alpha = 1.0f;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return math::select(x > 0.0f, x, args.alpha * math::expm1((math::min)(x, 0.0f)));
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const& args) {
        return math::keep_nan(x, math::select(x > 0.0f, V{} + 1.0f, args.alpha * math::exp_fast((math::min)(x, 0.0f))));
    }
};

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
