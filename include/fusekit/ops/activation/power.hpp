// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

/// y = (alpha + beta * x)^gamma, and 0 for alpha + beta * x <= 1e-6, as in MIOpen's kernels.
/// The slope is y's derivative, beta * gamma * (alpha + beta * x)^(gamma - 1), and 0 for alpha + beta * x <= 1e-6.
/// MIOpen's backward pass differs: it omits the factor dy that multiplies the slope.
struct Power {
    static constexpr auto equation = "y = (alpha + beta * x)^gamma";
    struct Args {
        float alpha = 0.0f, beta = 1.0f, gamma = 1.0f;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        V const base = args.alpha + args.beta * x;
        V const power = math::pow((math::max)(base, 1e-6f), args.gamma);
        return math::keep_nan(base, math::select(base <= math::Scalar<V>(1e-6), V{}, power));
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const& args) {
        V const base = args.alpha + args.beta * x;
        V const power = math::pow((math::max)(base, 1e-6f), math::Scalar<V>(args.gamma) - 1.0f);
        return math::keep_nan(base, math::select(base <= math::Scalar<V>(1e-6), V{}, args.beta * (args.gamma * power)));
    }
};

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
