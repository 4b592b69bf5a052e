// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

struct Tanh {
    static constexpr auto equation = "y = beta * tanh(alpha * x)";
    struct Args {
        float alpha = 1.0f, beta = 1.0f;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return args.beta * math::tanh(args.alpha * x);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const& args) {
        V const e = math::exp_fast(-2.0f * (math::abs)(args.alpha * x)), sum = e + 1.0f;  // 1 - tanh^2 would cancel
        return args.alpha * (args.beta * math::divide(4.0f * e, sum * sum));
    }
};

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
