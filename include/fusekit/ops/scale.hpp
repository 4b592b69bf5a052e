// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"

namespace fusekit {

/// y = factor * x
struct Scale {
    static constexpr auto stage = Stage::pointwise;
    static constexpr auto equation = "y = factor * x";
    struct Args {
        float factor = 1.0f;
    };

    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return args.factor * x;
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V, Args const& args) {
        return V{} + args.factor;
    }
};

}  // namespace fusekit
