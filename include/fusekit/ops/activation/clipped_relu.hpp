// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

namespace fusekit {

/// y = min(max(x, 0), alpha). The slope is 1 for 0 < x <= alpha and else 0, as in MIOpen.
struct ClippedRelu {
    static constexpr auto equation = "y = min(max(x, 0), alpha)";
    struct Args {
        float alpha = 6.0f;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return (math::min)((math::max)(x, 0.0f), args.alpha);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const& args) {
        V const unclipped = math::select(x <= args.alpha, V{} + 1.0f, V{});
        return math::keep_nan(x, math::select(x > 0.0f, unclipped, V{}));
    }
};

}  // namespace fusekit
