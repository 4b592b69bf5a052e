// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

namespace fusekit {

struct SoftRelu {
    static constexpr auto equation = "y = log(1 + exp(x))";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return math::softplus(x);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        return math::logistic(x);
    }
};

}  // namespace fusekit
