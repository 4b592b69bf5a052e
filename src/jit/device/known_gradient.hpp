// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/batch_norm.hpp"
#include "fusekit/ops/residual.hpp"
#include "fusekit/plan/gradient.hpp"
#include "fusekit/plan/replay.hpp"
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

/// Replaces the activation in the gradient of a plan without one. Its slope at NaN is 1, and Passthru's is NaN.
using NoActivation = fusekit::detail::Unchanged<KnownActivation<Passthru>>;

}  // namespace fusekit::jit
