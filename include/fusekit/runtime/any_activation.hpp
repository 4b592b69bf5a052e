// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/runtime/activation_mode.hpp"

namespace fusekit::runtime {

/// y = f(x), with f one of the library's activations, chosen by a number that a run brings: one plan serves all of
/// them, and Passthru stands for "none". Values and slopes are those of Activation<Mode>.
///
/// The choice is the same for all values of a run. What it costs: bench/results/runtime.
/// Arguments: mode; alpha, beta and gamma, of which the mode reads those that it has.
struct AnyActivation {
    static constexpr auto stage = Stage::activation;
    static constexpr auto equation = "y = f(x), f chosen at run time";
    struct Args {
        ActivationMode mode = ActivationMode::passthru;
        float alpha = 0, beta = 0, gamma = 0;
    };

    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return with_mode(args, [&]<class Mode>(Mode, auto const& own) { return Mode::apply(x, own); });
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const& args) {
        return with_mode(args, [&]<class Mode>(Mode, auto const& own) { return Mode::slope(x, own); });
    }

    static void check(Args const& args, Check const& in) {
        int const mode = static_cast<int>(args.mode);
        in.require(mode >= 0 && mode < activation_modes, "mode", "an activation's number, 0 to 17", mode);
    }

private:
    template <class Mode, class F>
    FUSEKIT_HD static constexpr auto call(Args const& args, F const& f) {
        return f(Mode{}, detail::mode_arguments<Mode>(args.alpha, args.beta, args.gamma));
    }
    template <class F>
    FUSEKIT_HD static constexpr auto with_mode(Args const& args, F const& f) {
        switch (args.mode) {
            case ActivationMode::logistic: return call<Logistic>(args, f);
            case ActivationMode::tanh: return call<Tanh>(args, f);
            case ActivationMode::relu: return call<Relu>(args, f);
            case ActivationMode::soft_relu: return call<SoftRelu>(args, f);
            case ActivationMode::abs: return call<Abs>(args, f);
            case ActivationMode::power: return call<Power>(args, f);
            case ActivationMode::clipped_relu: return call<ClippedRelu>(args, f);
            case ActivationMode::leaky_relu: return call<LeakyRelu>(args, f);
            case ActivationMode::elu: return call<Elu>(args, f);
            case ActivationMode::clamp: return call<Clamp>(args, f);
            case ActivationMode::gelu: return call<Gelu>(args, f);
            case ActivationMode::gelu_tanh: return call<GeluTanh>(args, f);
            case ActivationMode::silu: return call<Silu>(args, f);
            case ActivationMode::mish: return call<Mish>(args, f);
            case ActivationMode::hard_swish: return call<HardSwish>(args, f);
            case ActivationMode::hard_sigmoid: return call<HardSigmoid>(args, f);
            case ActivationMode::softsign: return call<Softsign>(args, f);
            case ActivationMode::passthru: break;
        }
        return call<Passthru>(args, f);
    }
};

}  // namespace fusekit::runtime
