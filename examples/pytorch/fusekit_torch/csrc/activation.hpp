// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <fusekit/runtime/activation_mode.hpp>
#include <limits>

namespace fusekit_torch {

namespace fk = fusekit;

/// Activations of the library, and their names in PyTorch's operators: "relu", "leaky_relu".
using Kind = fk::runtime::ActivationMode;
struct NamedKind {
    char const* name;
    Kind kind;
};
inline constexpr NamedKind named_kinds[] = {
#define FUSEKIT_TORCH_NAME(number, Mode, mode, MODE) {#mode, Kind::mode},
    FUSEKIT_ACTIVATIONS(FUSEKIT_TORCH_NAME)
#undef FUSEKIT_TORCH_NAME
};

/// y = f(x), with f selected at run time, uniformly for a run: one plan serves all activations. Arguments: kind, and
/// alpha, beta and gamma, of which f uses the first few or none.
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
#define FUSEKIT_TORCH_CALL(number, Mode, mode, MODE) \
    case Kind::mode: return call<fk::Mode>(args, f);
            FUSEKIT_ACTIVATIONS(FUSEKIT_TORCH_CALL)
#undef FUSEKIT_TORCH_CALL
        }
        return call<fk::Passthru>(args, f);
    }

    /// Builds a mode's Args from the first of alpha, beta and gamma.
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

/// True for y = max(lower, min(upper, x)). The common activations are clamps: two instructions, with plans of their
/// own.
inline bool is_clamp(Kind kind) {
    return kind == Kind::passthru || kind == Kind::relu || kind == Kind::clipped_relu || kind == Kind::clamp;
}
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
