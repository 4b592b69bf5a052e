// expect: Backward: this operator (Op) of the plan has no slope, in the form of its apply
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

struct Square {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};

    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return x * x;
    }
#ifdef CORRECTED
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        return 2.0f * x;
    }
#endif
};

using Gradients = fk::Backward<fk::Plan<fk::Bias, Square>>;
static_assert(sizeof(Gradients) > 0);
