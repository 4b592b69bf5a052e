// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <fusekit/ops/activation.hpp>
#include <limits>

namespace fusekit_torch {

namespace fk = fusekit;

/// The library's activations, as operators name them.
enum class Kind {
    passthru,
    relu,
    clipped_relu,
    clamp,
    logistic,
    tanh,
    soft_relu,
    abs,
    power,
    leaky_relu,
    elu,
    gelu,
    gelu_tanh,
    silu,
    mish,
    hard_swish,
    hard_sigmoid,
    softsign
};
inline constexpr char const* kind_names[] = {
    "passthru",   "relu", "clipped_relu", "clamp",     "logistic", "tanh", "soft_relu",  "abs",          "power",
    "leaky_relu", "elu",  "gelu",         "gelu_tanh", "silu",     "mish", "hard_swish", "hard_sigmoid", "softsign"};

/// y = f(x), with f one of them. The choice is the same for all values of a run, so one plan serves all.
/// Arguments: kind, and alpha, beta and gamma: f takes none of them or the first few.
struct AnyMode {
    static constexpr auto equation = "y = f(x), f chosen at run time";
    struct Args {
        Kind kind = Kind::passthru;
        float alpha = 0, beta = 0, gamma = 0;
    };

    template <class V>
    [[gnu::noinline]] FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return visit(args, [&]<class Mode>(Mode, auto const& own) { return Mode::apply(x, own); });
    }
    template <class V>
    [[gnu::noinline]] FUSEKIT_HD static constexpr V slope(V x, Args const& args) {
        return visit(args, [&]<class Mode>(Mode, auto const& own) { return Mode::slope(x, own); });
    }

    /// Calls f with the mode and its arguments.
    template <class F>
    FUSEKIT_HD static constexpr auto visit(Args const& args, F const& f) {
        switch (args.kind) {
            case Kind::relu: return call<fk::Relu>(args, f);
            case Kind::clipped_relu: return call<fk::ClippedRelu>(args, f);
            case Kind::clamp: return call<fk::Clamp>(args, f);
            case Kind::logistic: return call<fk::Logistic>(args, f);
            case Kind::tanh: return call<fk::Tanh>(args, f);
            case Kind::soft_relu: return call<fk::SoftRelu>(args, f);
            case Kind::abs: return call<fk::Abs>(args, f);
            case Kind::power: return call<fk::Power>(args, f);
            case Kind::leaky_relu: return call<fk::LeakyRelu>(args, f);
            case Kind::elu: return call<fk::Elu>(args, f);
            case Kind::gelu: return call<fk::Gelu>(args, f);
            case Kind::gelu_tanh: return call<fk::GeluTanh>(args, f);
            case Kind::silu: return call<fk::Silu>(args, f);
            case Kind::mish: return call<fk::Mish>(args, f);
            case Kind::hard_swish: return call<fk::HardSwish>(args, f);
            case Kind::hard_sigmoid: return call<fk::HardSigmoid>(args, f);
            case Kind::softsign: return call<fk::Softsign>(args, f);
            case Kind::passthru: break;
        }
        return call<fk::Passthru>(args, f);
    }

    /// The first of a mode's arguments that it has.
    template <class Mode>
    static constexpr int arguments_of = [] {
        using Own = typename Mode::Args;
        if constexpr (requires { Own{1.0f, 1.0f, 1.0f}; }) return 3;
        else if constexpr (requires { Own{1.0f, 1.0f}; }) return 2;
        else if constexpr (requires { Own{1.0f}; }) return 1;
        else return 0;
    }();

private:
    template <class Mode, class F>
    FUSEKIT_HD static constexpr auto call(Args const& args, F const& f) {
        using Own = typename Mode::Args;
        if constexpr (arguments_of<Mode> == 3) return f(Mode{}, Own{args.alpha, args.beta, args.gamma});
        else if constexpr (arguments_of<Mode> == 2) return f(Mode{}, Own{args.alpha, args.beta});
        else if constexpr (arguments_of<Mode> == 1) return f(Mode{}, Own{args.alpha});
        else return f(Mode{}, Own{});
    }
};

/// Whether an activation is y = max(lower, min(upper, x)). The common ones are: they cost two instructions, and share
/// plans of their own.
inline bool is_clamp(Kind kind) { return kind <= Kind::clamp; }
inline fk::Clamp::Args bounds_of(AnyMode::Args const& args) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    switch (args.kind) {
        case Kind::relu: return {0, infinity};
        case Kind::clipped_relu: return {0, args.alpha};
        case Kind::clamp: return {args.alpha, args.beta};
        default: return {-infinity, infinity};
    }
}

}  // namespace fusekit_torch
