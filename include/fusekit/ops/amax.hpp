// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"

namespace fusekit {

/// y = x, and amax = max(amax, |x|) over all n, k, p, q: the input of an 8-bit float's scale. Its position in the plan
/// selects the values: before a Scale, it measures the unscaled ones.
///
/// Arguments: amax, one float, disjoint in memory from all other arguments. The caller sets it to 0, or to an earlier
/// maximum, before a run; a run over zero values leaves it unchanged. A maximum does not depend on the order: results
/// are bitwise identical from run to run. A NaN value makes it NaN. Source: NVIDIA, Transformer Engine, "delayed
/// scaling".
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
