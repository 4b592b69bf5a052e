// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/runtime/activation_mode.hpp"

namespace fusekit::runtime {

/// An activation that is selected at run time: its ActivationMode and its parameters.
struct ActivationArguments {
    ActivationMode mode = ActivationMode::passthru;
    float alpha = 0, beta = 0, gamma = 0;
};

/// y = f(x), where each run selects f among the activation structs Modes by its ActivationMode, so that one plan is
/// used for all of them. Values and slopes are those of Activation<f>.
///
/// All elements of a run have the same f. apply() compares the mode with those of Modes in their order. For the cost
/// see bench/README.md, runtime. Arguments: mode; alpha, beta and gamma, as far as the activation has them.
template <class... Modes>
struct AnyOf {
    static constexpr auto stage = Stage::activation;
    static constexpr auto equation = "y = f(x), f chosen at run time";
    using Args = ActivationArguments;

    /// Bit mask with bit i for each of Modes, where i is its number in ActivationMode.
    static constexpr std::uint32_t modes = (0 | ... | (1u << number_of_mode<Modes>));
    FUSEKIT_H static constexpr bool has(ActivationMode mode) {
        auto const number = static_cast<std::int32_t>(mode);
        return number >= 0 && number < activation_modes && (modes >> number & 1);
    }

    /// If args.mode is one of Modes, replaces x by f(x) and returns true; else returns false.
    template <class V>
    FUSEKIT_HD static constexpr bool has_applied(V& x, Args const& args) {
        return (applied<Modes>(x, args) || ...);
    }
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        static_cast<void>(has_applied(x, args));
        return x;
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const& args) {
        V result = V{} + 1.0f;
        static_cast<void>((sloped<Modes>(x, args, result) || ...));
        return result;
    }

    FUSEKIT_H static void check(Args const& args, Check const& in) {
        in.require(has(args.mode), "mode", "the number of one of its activations",
                   static_cast<std::int32_t>(args.mode));
    }

private:
    template <class Mode>
    FUSEKIT_HD static constexpr bool is(Args const& args) {
        return args.mode == static_cast<ActivationMode>(number_of_mode<Mode>);
    }
    template <class Mode, class V>
    FUSEKIT_HD static constexpr bool applied(V& x, Args const& args) {
        if (!is<Mode>(args)) return false;
        x = Mode::apply(x, detail::mode_arguments<Mode>(args.alpha, args.beta, args.gamma));
        return true;
    }
    template <class Mode, class V>
    FUSEKIT_HD static constexpr bool sloped(V x, Args const& args, V& result) {
        if (!is<Mode>(args)) return false;
        result = Mode::slope(x, detail::mode_arguments<Mode>(args.alpha, args.beta, args.gamma));
        return true;
    }
};

namespace detail {

/// AnyOf<Modes...>. The first template argument is ignored, because FUSEKIT_NEXT_TYPE writes a comma before every mode.
template <class, class... Modes>
struct AnyOfListed : std::type_identity<AnyOf<Modes...>> {};

}  // namespace detail

#define FUSEKIT_NEXT_TYPE(number, Mode, mode, MODE) , Mode

/// Activations that need only a few comparisons and products, and Passthru, which is no activation.
struct PiecewiseActivation : detail::AnyOfListed<void FUSEKIT_PIECEWISE_ACTIVATIONS(FUSEKIT_NEXT_TYPE)>::type {};

/// Activations with an exponential, and their approximations; selecting among them takes more time per element.
struct CurvedActivation : detail::AnyOfListed<void FUSEKIT_CURVED_ACTIVATIONS(FUSEKIT_NEXT_TYPE)>::type {};

/// All activations of the library.
struct AnyActivation : detail::AnyOfListed<void FUSEKIT_ACTIVATIONS(FUSEKIT_NEXT_TYPE)>::type {
#undef FUSEKIT_NEXT_TYPE
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return PiecewiseActivation::has_applied(x, args) ? x : curved(x, args);
    }

private:
    /// CurvedActivation::apply as a function of its own on CPUs: if inlined, the function of all activations becomes so
    /// large that compilers inline less, and call the other activations from the vector loop.
    template <class V>
    FUSEKIT_CALLED_ON_HOST FUSEKIT_HD static constexpr V curved(V x, Args const& args) {
        return CurvedActivation::apply(x, args);
    }
};

}  // namespace fusekit::runtime
