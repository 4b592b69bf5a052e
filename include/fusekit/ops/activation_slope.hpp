// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"

namespace fusekit {

/// y[n,k,p,q] = x[n,k,p,q] * f'(z[n,k,p,q])
///
/// Backward pass of an activation f (Mode, ops/activation.hpp) with input z. In a plan after a TransposedConv, whose
/// result x is dL/df(z), y is dL/dz.
/// Arguments: z, of y's shape, any element type and strides, disjoint from y in memory or y itself; for a Relu, z may
/// be the Relu's output instead, because the output is positive exactly where the input is. `of`: the Args of f. At a
/// kink of f the comment of f's struct states which one-sided slope is used.
template <class Mode>
struct ActivationSlope {
    static constexpr auto stage = Stage::pointwise;
    static constexpr auto equation = "y = x * f'(z[n,k,p,q])";
    static constexpr int flops_per_element = 2;
    struct Args {
        Required<AnyActivations, field::z> z;
        typename Mode::Args of = {};
    };

    template <class V, class At>
    FUSEKIT_HD static constexpr V apply(V x, At const& at, Args const& args) {
        return x * slope(x, at, args);
    }
    template <class V, class At>
    FUSEKIT_HD static constexpr V slope(V, At const& at, Args const& args) {
        return Mode::slope(V(at.load(args.z)), args.of);
    }

    FUSEKIT_H static constexpr void views(Args& args, auto const& f) { f(args.z); }
    FUSEKIT_H static void check(Args const& args, Check const& in) {
        in.readable("z", args.z, in.y, "N x K x P x Q", Access::read_in_place);
    }
};

}  // namespace fusekit
