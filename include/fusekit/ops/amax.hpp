// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"

namespace fusekit {

/// y = x, and amax = max(amax, |x|) over all n, k, p, q: the maximum from which the scale of an 8-bit float tensor is
/// computed. Amax measures the values at its position in the plan: before a Scale, the unscaled ones.
///
/// Arguments: amax, one float, disjoint in memory from all other arguments. The caller sets it to 0, or to an earlier
/// maximum, before a run; a run over zero values leaves it unchanged. A maximum does not depend on the order of the
/// values: results are bitwise identical from run to run. If a value is NaN, amax becomes NaN. Source: NVIDIA,
/// Transformer Engine, "delayed scaling".
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
