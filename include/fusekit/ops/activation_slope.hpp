// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"

namespace fusekit {

/// y[n,k,p,q] = x[n,k,p,q] * f'(z[n,k,p,q])
///
/// The way of a gradient back through an activation f: after a TransposedConv, whose result is dL/df(z), this is dL/dz.
/// Arguments: z, the activation's input, of y's shape, any element type and strides, apart from y in memory or y
/// itself; of a Relu also its output, which is positive where its input is. `of` is what the mode takes. At a kink the
/// mode's comment says which side's slope it takes.
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
