// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/batch_norm.hpp"
#include "fusekit/ops/residual.hpp"
#include "fusekit/plan/gradient.hpp"
#include "fusekit/runtime/any_activation.hpp"

namespace fusekit::jit {

/// Activation<Mode> with the Args of runtime::AnyActivation, which code of the host has in its place: kernel parameters
/// have one layout for all activations.
template <class Mode>
struct KnownActivation {
    static constexpr auto stage = Stage::activation;
    using Args = runtime::ActivationArguments;
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return Mode::apply(x, arguments(args));
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const& args) {
        return Mode::slope(x, arguments(args));
    }

private:
    FUSEKIT_HD static constexpr typename Mode::Args arguments(Args const& args) {
        return runtime::detail::mode_arguments<Mode>(args.alpha, args.beta, args.gamma);
    }
};

/// y = x, with the same Args: in the gradient of a plan without an activation.
struct NoActivation {
    static constexpr auto stage = Stage::activation;
    static constexpr int flops_per_element = 0;
    using Args = runtime::ActivationArguments;
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return x;
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V, Args const&) {
        return V{} + 1.0f;
    }
};

}  // namespace fusekit::jit
