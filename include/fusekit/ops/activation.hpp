// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"
#include "fusekit/ops/operator.hpp"

namespace fusekit {

/// y = f(x), the same at every place. Mode is one of the structs below, or any struct with their two members.
///
/// Arguments: the mode's alpha, beta, gamma, where it has them. NaN in gives NaN out in every mode; +-infinity
/// gives the limit (but LeakyRelu's alpha = 0 times -infinity is NaN).
/// Source: MIOpen's activation modes (miopenActivationMode_t) for the first eleven, the papers named elsewhere.
template <class Mode>
struct Activation {
    static constexpr auto stage = Stage::activation;
    static constexpr char const* equation = [] {
        if constexpr (requires { Mode::equation; }) return Mode::equation;
        else return "";
    }();
    using Args = typename Mode::Args;

    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args)
        requires requires { Mode::apply(x, args); }
    {
        return Mode::apply(x, args);
    }
};

struct Passthru {
    static constexpr auto equation = "y = x";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return x;
    }
};

struct Logistic {
    static constexpr auto equation = "y = 1 / (1 + exp(-x))";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return math::logistic(x);
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
};

struct Relu {
    static constexpr auto equation = "y = max(x, 0)";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return math::max(x, 0.0f);
    }
};

struct SoftRelu {
    static constexpr auto equation = "y = log(1 + exp(x))";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return math::softplus(x);
    }
};

struct Abs {
    static constexpr auto equation = "y = |x|";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return math::abs(x);
    }
};

/// y = (alpha + beta * x)^gamma, and 0 where alpha + beta * x <= 1e-6, as MIOpen's kernels have it.
struct Power {
    static constexpr auto equation = "y = (alpha + beta * x)^gamma";
    struct Args {
        float alpha = 0.0f, beta = 1.0f, gamma = 1.0f;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        V const base = args.alpha + args.beta * x;
        return math::select(base <= 1e-6f, V{}, math::pow(math::max(base, 1e-6f), args.gamma));
    }
};

struct ClippedRelu {
    static constexpr auto equation = "y = min(max(x, 0), alpha)";
    struct Args {
        float alpha = 6.0f;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return math::min(math::max(x, 0.0f), args.alpha);
    }
};

struct LeakyRelu {
    static constexpr auto equation = "y = x > 0 ? x : alpha * x";
    struct Args {
        float alpha = 0.01f;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return math::select(x > 0.0f, x, args.alpha * x);
    }
};

/// Source: Clevert, Unterthiner and Hochreiter 2015.
struct Elu {
    static constexpr auto equation = "y = x > 0 ? x : alpha * (exp(x) - 1)";
    struct Args {
        float alpha = 1.0f;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return math::select(x > 0.0f, x, args.alpha * math::expm1(math::min(x, 0.0f)));
    }
};

struct Clamp {
    static constexpr auto equation = "y = max(alpha, min(beta, x))";
    struct Args {
        float alpha = 0.0f, beta = 6.0f;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return math::max(math::min(x, args.beta), args.alpha);
    }
};

/// The form with the error function. Source: Hendrycks and Gimpel 2016.
struct Gelu {
    static constexpr auto equation = "y = x * (1 + erf(x / sqrt(2))) / 2";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return math::max(x, -9.0f) * math::normal_cdf(x);
    }
};

/// The approximation with the hyperbolic tangent. Source: Hendrycks and Gimpel 2016.
struct GeluTanh {
    static constexpr auto equation = "y = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        V const clipped = math::min(math::max(x, -9.0f), 9.0f);  // where the factor is 0 or 1 already
        V const argument = clipped * (1.59576912f + 0.0713548163f * clipped * clipped);  // twice tanh's
        return math::max(x, -9.0f) * math::logistic(argument);   // (1 + tanh u) / 2 = logistic(2 u)
    }
};

/// Source: Elfwing, Uchibe and Doya 2017.
struct Silu {
    static constexpr auto equation = "y = x / (1 + exp(-x))";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return math::max(x, -120.0f) * math::logistic(x);
    }
};

/// tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2) for e = exp(x). Source: Misra 2019.
struct Mish {
    static constexpr auto equation = "y = x * tanh(log(1 + exp(x)))";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        V const e = math::exp(math::min(x, 30.0f)), numerator = e * (e + 2.0f);
        return math::max(x, -120.0f) * (numerator / (numerator + 2.0f));
    }
};

/// Source: Howard et al. 2019 (MobileNetV3).
struct HardSwish {
    static constexpr auto equation = "y = x * min(max(x + 3, 0), 6) / 6";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return math::max(x, -3.0f) * (math::min(math::max(x + 3.0f, 0.0f), 6.0f) / 6.0f);
    }
};

struct HardSigmoid {
    static constexpr auto equation = "y = min(max(alpha * x + beta, 0), 1)";
    struct Args {
        float alpha = 1.0f / 6.0f, beta = 0.5f;
    };
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        return math::min(math::max(args.alpha * x + args.beta, 0.0f), 1.0f);
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
};

}  // namespace fusekit
