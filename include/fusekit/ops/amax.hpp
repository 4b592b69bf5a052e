// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"

namespace fusekit {

/// y = x, and amax = max(amax, |x|) over all n, k, p, q: what the scale of an 8-bit float is made of. The plan goes on
/// with the value, so the place in the plan says which values count: before a Scale, those that are not scaled yet.
///
/// Arguments: amax, one float, apart in memory from all other arguments. The caller sets it to 0 before a run, or to a
/// magnitude that it found before; a run over no values leaves it. The maximum does not depend on an order, so every
/// run gives the same. A value that is NaN makes it NaN. Source: NVIDIA, Transformer Engine, "delayed scaling".
struct Amax {
    static constexpr auto stage = Stage::pointwise;
    static constexpr auto equation = "y = x, amax = max(amax, |x|)";
    struct Args {
        Required<TensorView<float, 1>, field::amax> amax;
    };

    FUSEKIT_HD static constexpr float* maximum(Args const& args) { return args.amax.data; }
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return x;
    }

    FUSEKIT_H static void check(Args const& args, Check const& in) { in.writable("amax", args.amax, {{1}}, "a float"); }
};

}  // namespace fusekit
