// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

/// y = x * tanh(log(1 + e)) with e = exp(x), computed as x * e (e + 2) / (e (e + 2) + 2). Source: Misra 2019.
struct Mish {
    static constexpr auto equation = "y = x * tanh(log(1 + exp(x)))";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        V const e = math::exp_fast((math::min)(x, 30.0f)), numerator = e * (e + 2.0f);
        return (math::max)(x, -750.0f) * math::assoc_barrier(math::divide(numerator, numerator + 2.0f));
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        V const clamped = (math::min)((math::max)(x, -750.0f), 750.0f), e = math::exp_fast((math::min)(x, 30.0f));
        V const numerator = e * (e + 2.0f), share = math::divide(V{} + 1.0f, numerator + 2.0f);
        return numerator * share + clamped * (4.0f * e * (e + 1.0f) * share * share);
    }
};

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
