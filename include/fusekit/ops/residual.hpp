// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"

namespace fusekit {

/// y[n,k,p,q] = x[n,k,p,q] + alpha2 * z[n,k,p,q]
///
/// The position of the operator in the plan decides whether z is added before or after the activation.
/// Arguments: z, of y's shape, any element type and strides, disjoint from y in memory or y itself: y then holds z
/// before the run, and y = x + alpha2 * y, where alpha2 is BLAS's beta; alpha2, as in MIOpen's fused residual
/// convolution.
struct Residual {
    static constexpr auto stage = Stage::pointwise;
    static constexpr auto equation = "y = x + alpha2 * z[n,k,p,q]";
    static constexpr int flops_per_element = 2;
    struct Args {
        Required<AnyActivations, field::z> z;
        float alpha2 = 1.0f;
    };

    template <class V, class At>
    FUSEKIT_HD static constexpr V apply(V x, At const& at, Args const& args) {
        return x + args.alpha2 * at.load(args.z);
    }
    template <class V, class At>
    FUSEKIT_HD static constexpr V slope(V, At const&, Args const&) {
        return V{} + 1.0f;
    }

    /// Output of a backward pass: z[n,k,p,q] = alpha2 * dy[n,k,p,q], of any element type and strides.
    struct Gradients {
        OptionalOutput z = {};
    };
    static constexpr int gradient_flops_per_element = 2;
    template <class V, class At>
    FUSEKIT_HD static constexpr void store_gradients(V dy, At const& at, Args const& args, Gradients const& gradients) {
        if (gradients.z.given()) at.store(gradients.z, args.alpha2 * dy);
    }

    FUSEKIT_H static constexpr void views(Args& args, auto const& f) { f(args.z); }
    FUSEKIT_HD static constexpr AnyView<4> const& read_view(Args const& args) { return args.z; }
    FUSEKIT_H static void check(Args const& args, Check const& in) {
        in.readable("z", args.z, in.y, "N x K x P x Q", Access::read_in_place);
    }
    FUSEKIT_H static void check_gradients(Gradients const& gradients, Check const& in) {
        in.writable("gradients.z", gradients.z, in.y, "N x K x P x Q");
    }
};

}  // namespace fusekit
