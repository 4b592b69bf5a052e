// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/math.hpp"

namespace fusekit {

// Activations that are x times a gate, which rises from 0 to 1.

/// The form with the error function. Source: Hendrycks and Gimpel 2016.
struct Gelu {
    static constexpr auto equation = "y = x * (1 + erf(x / sqrt(2))) / 2";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        constexpr float lowest = std::is_same_v<V, double> ? -40.0f : -15.0f;  // from there on, normal_cdf is 0
        return math::max(x, lowest) * math::normal_cdf(x);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        V const near = math::min(math::max(x, -40.0f), 40.0f);  // beyond, the density is 0
        return math::normal_cdf(x) + near * math::normal_density(near);
    }
};

/// The approximation with the hyperbolic tangent. Source: Hendrycks and Gimpel 2016.
struct GeluTanh {
    static constexpr auto equation = "y = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2";
    struct Args {};
    // (1 + tanh u) / 2 = logistic(2 u), and 2 u = x (inner + cubic x^2)
    template <class V>
    static constexpr auto inner = math::Scalar<V>(1.5957691216057308);
    template <class V>
    static constexpr auto cubic = math::Scalar<V>(0.07135481627260026);
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        V const near = math::min(math::max(x, -22.0f), 22.0f);  // beyond, the factor is 0 or 1
        return math::max(x, -22.0f) * math::logistic(near * (inner<V> + cubic<V> * near * near));
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        V const near = math::min(math::max(x, -22.0f), 22.0f), square = near * near;
        V const argument = near * (inner<V> + cubic<V> * square), rate = inner<V> + 3.0f * cubic<V> * square;
        return math::logistic(argument) * (1.0f + near * rate * math::logistic(-argument));
    }
};

/// Source: Elfwing, Uchibe and Doya 2017.
struct Silu {
    static constexpr auto equation = "y = x / (1 + exp(-x))";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return math::max(x, -750.0f) * math::logistic(x);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        V const near = math::min(math::max(x, -750.0f), 750.0f);
        return math::logistic(near) * (1.0f + near * math::logistic(-near));
    }
};

/// tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2) for e = exp(x). Source: Misra 2019.
struct Mish {
    static constexpr auto equation = "y = x * tanh(log(1 + exp(x)))";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        V const e = math::exp(math::min(x, 30.0f)), numerator = e * (e + 2.0f);
        return math::max(x, -750.0f) * (numerator / (numerator + 2.0f));
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        V const near = math::min(math::max(x, -750.0f), 750.0f), e = math::exp(math::min(x, 30.0f));
        V const numerator = e * (e + 2.0f), share = 1.0f / (numerator + 2.0f);
        return numerator * share + near * (4.0f * e * (e + 1.0f) * share * share);
    }
};

/// Source: Howard et al. 2019 (MobileNetV3).
/// The slope is 0 for x <= -3 and 1 for x >= 3, those of the straight lines.
struct HardSwish {
    static constexpr auto equation = "y = x * min(max(x + 3, 0), 6) / 6";
    struct Args {};
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return math::max(x, -3.0f) * (math::min(math::max(x + 3.0f, 0.0f), 6.0f) / 6.0f);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        V const curve = (2.0f * x + 3.0f) / 6.0f;
        return math::keep_nan(x, math::select(x >= 3.0f, V{} + 1.0f, math::select(x > -3.0f, curve, V{})));
    }
};

}  // namespace fusekit
