// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/math.hpp"
#include "fusekit/ops/operator.hpp"

namespace fusekit {

struct Spatial;        ///< statistics per channel: K values
struct PerActivation;  ///< statistics per channel and place: K x P x Q values

namespace detail {

/// y = (x - mean) * scale + shift, where scale holds the reciprocal root. Subtracting the mean first keeps the
/// digits that x * scale + (shift - mean * scale) loses when the mean is large.
template <class V>
struct Normalization {
    V mean, scale, shift;

    FUSEKIT_HD constexpr V apply(V x) const { return (x - mean) * scale + shift; }
};

template <class View, int Rank>
struct BatchNorm {
    static constexpr auto stage = Stage::normalization;
    struct Args {
        View mean, variance, scale, shift;
        float epsilon = 1e-5f;
    };

protected:
    static void check_parameters(Args const& args, Check const& in, Shape<Rank> const& shape, char const* modes) {
        in.readable("mean", args.mean, shape, modes);
        in.readable("variance", args.variance, shape, modes);
        in.readable("scale", args.scale, shape, modes);
        in.readable("shift", args.shift, shape, modes);
        in.require(args.epsilon >= 0 && args.epsilon <= 3e38f, "epsilon", "a finite number, 0 or more", args.epsilon);
    }
};

}  // namespace detail

/// y[n,k,p,q] = scale * (x[n,k,p,q] - mean) / sqrt(variance + epsilon) + shift
///
/// Spatial: mean, variance, scale and shift have K values, indexed by k; PerActivation: K x P x Q, indexed by
/// k, p, q (layouts chw and hwc; cw, cdhw and their like where space has one or three modes). They are float for every
/// tensor type. Requires: variance >= 0 (the variance, not its inverse); epsilon >= 0, finite, and variance + epsilon >
/// 0. Source: Ioffe and Szegedy 2015, eq. (4), at inference.
template <class Mode>
struct BatchNormInference;

template <>
struct BatchNormInference<Spatial> : detail::BatchNorm<TensorView<float const, 1>, 1> {
    static constexpr auto equation = "y = scale[k] * (x - mean[k]) / sqrt(variance[k] + epsilon) + shift[k]";
    static constexpr int flops_per_element = 3;

    template <class V>
    using Prepared = detail::Normalization<V>;
    template <class V = float>
    FUSEKIT_HD static constexpr Prepared<V> prepare(std::int64_t k, Args const& args) {
        V const scale = args.scale(k), variance = args.variance(k);
        return {args.mean(k), math::over_sqrt(scale, variance + args.epsilon), args.shift(k)};
    }
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Prepared<V> const& channel) {
        return channel.apply(x);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V, Prepared<V> const& channel) {
        return channel.scale;
    }

    static void check(Args const& args, Check const& in) { check_parameters(args, in, {{in.y[1]}}, "K"); }
};

template <>
struct BatchNormInference<PerActivation> : detail::BatchNorm<PlaceParameters, 3> {
    static constexpr auto equation =
        "y = scale[k,p,q] * (x - mean[k,p,q]) / sqrt(variance[k,p,q] + epsilon) + shift[k,p,q]";
    static constexpr int flops_per_element = 6;

    template <class V>
    using Prepared = detail::Normalization<V>;
    template <class At>
    FUSEKIT_HD static constexpr auto prepare(At const& at, Args const& args)
        requires requires { at.load(args.mean); }
    {
        auto const mean = at.load(args.mean), variance = at.load(args.variance);
        return Prepared<std::remove_const_t<decltype(mean)>>{
            mean, math::over_sqrt(at.load(args.scale), variance + args.epsilon), at.load(args.shift)};
    }
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Prepared<V> const& place) {
        return place.apply(x);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V, Prepared<V> const& place) {
        return place.scale;
    }

    static void check(Args const& args, Check const& in) { check_parameters(args, in, image(in.y), "K x P x Q"); }
};

}  // namespace fusekit
