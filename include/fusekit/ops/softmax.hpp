// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"
#include "fusekit/ops/operator.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

namespace detail {

/// Base of Softmax and LogSoftmax: the sum over a row of exp(x - maximum), which does not overflow.
struct ExponentialRows {
    static constexpr auto stage = Stage::pointwise;
    static constexpr RowCenter center = RowCenter::maximum;
    static constexpr bool over_pixels = false;
    static constexpr int flops_per_element = 5, gradient_flops_per_element = 5 + 4;
    struct Args {};
    using Affine = void;

    FUSEKIT_HD static constexpr std::int64_t groups(Args const&, std::int64_t) { return 1; }
    template <class V>
    FUSEKIT_HD static constexpr V term(V x, V maximum) {
        return math::exp_fast(math::assoc_barrier(x - maximum));
    }
};

}  // namespace detail

/// y[n,k,p,q] = exp(x[n,k,p,q] - maximum) / sum over k of exp(x[n,k,p,q] - maximum), for each pixel (n, p, q); of
/// matrices M x N and B x M x N, for each row of N values. A row with NaN or +infinity, or of -infinity alone, is NaN.
///
/// Only operators of one value may precede it. No arguments.
struct Softmax : detail::ExponentialRows {
    static constexpr auto equation = "y = exp(x) / sum over k of exp(x)";
    static constexpr auto gradient_equation = "dx = n * (g - sum over k of g * n), n = softmax of x, g = dL/dn";
    template <class V>
    struct Row {
        V maximum, inverse_sum;
    };

    template <class V>
    FUSEKIT_HD static constexpr Row<V> finish(V maximum, V sum, V, Args const&) {
        return {maximum, (V{} + 1) / sum};
    }
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Row<V> const& row) {
        return math::exp_fast(math::assoc_barrier(x - row.maximum)) * row.inverse_sum;
    }
    /// apply() of the value whose term() this is.
    template <class V>
    FUSEKIT_HD static constexpr V apply_to_term(V term, Row<V> const& row) {
        return term * row.inverse_sum;
    }
    template <class V>
    FUSEKIT_HD static constexpr V gradient(V g, V y, Row<V> const&, RowSums<V> const& sums) {
        return y * math::assoc_barrier(g - sums.g_times_y);
    }
};

/// y[n,k,p,q] = x[n,k,p,q] - maximum - log of the sum over k of exp(x[n,k,p,q] - maximum): the logarithm of Softmax,
/// with its rows and conditions.
struct LogSoftmax : detail::ExponentialRows {
    static constexpr auto equation = "y = x - log of the sum over k of exp(x)";
    static constexpr auto gradient_equation = "dx = g - exp(n) * sum over k of g, n = log-softmax of x, g = dL/dn";
    template <class V>
    struct Row {
        V maximum, log_sum;
    };

    template <class V>
    FUSEKIT_HD static constexpr Row<V> finish(V maximum, V sum, V, Args const&) {
        return {maximum, math::log(sum)};
    }
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Row<V> const& row) {
        return math::assoc_barrier(x - row.maximum) - row.log_sum;
    }
    template <class V>
    FUSEKIT_HD static constexpr V gradient(V g, V y, Row<V> const&, RowSums<V> const& sums) {
        return g - math::exp_fast(y) * sums.g;
    }
};

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
