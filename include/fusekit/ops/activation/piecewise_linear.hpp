// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

namespace fusekit {

// Activations that are straight lines, end to end.

struct Passthru {
    static constexpr auto equation = "y = x";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return x;
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        return math::keep_nan(x, V{} + 1.0f);
    }
};

/// The slope at 0 is 0, as MIOpen has it.
struct Relu {
    static constexpr auto equation = "y = max(x, 0)";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return math::max(x, 0.0f);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        return math::keep_nan(x, math::select(x > 0.0f, V{} + 1.0f, V{}));
    }
};

/// The slope at 0 is 0, halfway between its sides; MIOpen takes -1.
struct Abs {
    static constexpr auto equation = "y = |x|";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return math::abs(x);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        V const below = math::select(x < 0.0f, V{} - 1.0f, V{});
        return math::keep_nan(x, math::select(x > 0.0f, V{} + 1.0f, below));
    }
};

/// The slope is 1 for 0 < x <= alpha, as MIOpen has it.
struct ClippedRelu {
    static constexpr auto equation = "y = min(max(x, 0), alpha)";
    struct Args {
        float alpha = 6.0f;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return math::min(math::max(x, 0.0f), args.alpha);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const& args) {
        V const unclipped = math::select(x <= args.alpha, V{} + 1.0f, V{});
        return math::keep_nan(x, math::select(x > 0.0f, unclipped, V{}));
    }
};

/// The slope at 0 is alpha, as MIOpen has it.
struct LeakyRelu {
    static constexpr auto equation = "y = x > 0 ? x : alpha * x";
    struct Args {
        float alpha = 0.01f;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return math::select(x > 0.0f, x, args.alpha * x);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const& args) {
        return math::keep_nan(x, math::select(x > 0.0f, V{} + 1.0f, V{} + args.alpha));
    }
};

/// The slope is 1 for alpha < x <= beta, so that Clamp with alpha = 0 is ClippedRelu.
struct Clamp {
    static constexpr auto equation = "y = max(alpha, min(beta, x))";
    struct Args {
        float alpha = 0.0f, beta = 6.0f;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return math::max(math::min(x, args.beta), args.alpha);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const& args) {
        V const unclipped = math::select(x <= args.beta, V{} + 1.0f, V{});
        return math::keep_nan(x, math::select(x > args.alpha, unclipped, V{}));
    }
};

/// The slope is alpha for 0 < alpha * x + beta < 1.
struct HardSigmoid {
    static constexpr auto equation = "y = min(max(alpha * x + beta, 0), 1)";
    struct Args {
        float alpha = 1.0f / 6.0f, beta = 0.5f;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return math::min(math::max(args.alpha * x + args.beta, 0.0f), 1.0f);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const& args) {
        V const linear = args.alpha * x + args.beta;
        V const rising = math::select(linear < 1.0f, V{} + args.alpha, V{});
        return math::keep_nan(linear, math::select(linear > 0.0f, rising, V{}));
    }
};

}  // namespace fusekit
