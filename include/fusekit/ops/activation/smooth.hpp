// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"

namespace fusekit {

// Activations that are one elementary function, or two end to end.

struct Logistic {
    static constexpr auto equation = "y = 1 / (1 + exp(-x))";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return math::logistic(x);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        V const e = math::exp(-math::abs(x)), sum = e + 1.0f;  // 1 - y would cancel
        return e / (sum * sum);
    }
};

struct Tanh {
    static constexpr auto equation = "y = beta * tanh(alpha * x)";
    struct Args {
        float alpha = 1.0f, beta = 1.0f;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return args.beta * math::tanh(args.alpha * x);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const& args) {
        V const e = math::exp(-2.0f * math::abs(args.alpha * x)), sum = e + 1.0f;  // 1 - tanh^2 would cancel
        return args.alpha * (args.beta * (4.0f * e / (sum * sum)));
    }
};

struct SoftRelu {
    static constexpr auto equation = "y = log(1 + exp(x))";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return math::softplus(x);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        return math::logistic(x);
    }
};

/// y = (alpha + beta * x)^gamma, and 0 where alpha + beta * x <= 1e-6, as MIOpen's kernels have it.
/// The slope is y's derivative, beta * gamma * (alpha + beta * x)^(gamma - 1), and 0 where y is 0 for being below that
/// bound. MIOpen's differs: its backward pass leaves out the factor dy that the slope is multiplied by.
struct Power {
    static constexpr auto equation = "y = (alpha + beta * x)^gamma";
    struct Args {
        float alpha = 0.0f, beta = 1.0f, gamma = 1.0f;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        V const base = args.alpha + args.beta * x;
        V const power = math::pow(math::max(base, 1e-6f), args.gamma);
        return math::keep_nan(base, math::select(base <= math::Scalar<V>(1e-6), V{}, power));
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const& args) {
        V const base = args.alpha + args.beta * x;
        V const power = math::pow(math::max(base, 1e-6f), math::Scalar<V>(args.gamma) - 1.0f);
        return math::keep_nan(base, math::select(base <= math::Scalar<V>(1e-6), V{}, args.beta * (args.gamma * power)));
    }
};

/// Source: Clevert, Unterthiner and Hochreiter 2015.
/// The slope at 0 is alpha, as MIOpen has it.
struct Elu {
    static constexpr auto equation = "y = x > 0 ? x : alpha * (exp(x) - 1)";
    struct Args {
        float alpha = 1.0f;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return math::select(x > 0.0f, x, args.alpha * math::expm1(math::min(x, 0.0f)));
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const& args) {
        return math::keep_nan(x, math::select(x > 0.0f, V{} + 1.0f, args.alpha * math::exp(math::min(x, 0.0f))));
    }
};

struct Softsign {
    static constexpr auto equation = "y = x / (1 + |x|)";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        V const finite = math::min(math::max(x, -1e30f), 1e30f);
        return finite / (1.0f + math::abs(finite));
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        V const share = 1.0f / (1.0f + math::abs(x));
        return share * share;  // the square of 1 + |x| would overflow
    }
};

}  // namespace fusekit
