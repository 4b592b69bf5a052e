// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

namespace fusekit {

struct Passthru {
    static constexpr auto equation = "y = x";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return x;
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        return math::keep_nan(x, V{} + 1.0f);
    }
};

}  // namespace fusekit
