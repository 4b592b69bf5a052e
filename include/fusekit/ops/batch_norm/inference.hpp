// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/batch_norm/normalization.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

namespace detail {

template <class Mode>
struct BatchNorm : Normalizing<Mode> {
    using Normalizing<Mode>::rank;
    using Normalizing<Mode>::modes;
    using typename Normalizing<Mode>::Parameters;
    struct Args {
        Required<Parameters, field::mean> mean;
        Required<Parameters, field::variance> variance;
        Required<Parameters, field::scale> scale;
        Required<Parameters, field::shift> shift;
        float epsilon = 1e-5f;
    };

    template <class V>
    FUSEKIT_HD static constexpr void save_gradients(V const* sums, OutputCoord const& at, Args const& args,
                                                    typename BatchNorm::Gradients const& gradients) {
        V const variance = BatchNorm::element(args.variance, at);
        BatchNorm::set_gradients(sums, at, math::over_sqrt(V{1}, variance + args.epsilon), gradients);
    }

    FUSEKIT_H static void check(Args const& args, Check const& in) {
        auto const shape = BatchNorm::parameter_shape(in);
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
/// Spatial: mean, variance, scale and shift have K values, indexed by k. PerActivation: K x P x Q values, indexed by k,
/// p, q (layouts chw and hwc; for one spatial mode cw, for three cdhw). These parameters are float for every element
/// type of x.
/// Requires: variance >= 0 (the variance, not its inverse); epsilon >= 0, finite, and variance + epsilon > 0. Source:
/// Ioffe and Szegedy 2015, eq. (4), at inference.
template <class Mode>
struct BatchNormInference;

template <>
struct BatchNormInference<Spatial> : detail::BatchNorm<Spatial> {
    static constexpr auto equation = "y = scale[k] * (x - mean[k]) / sqrt(variance[k] + epsilon) + shift[k]";
    static constexpr int flops_per_element = 3;

    template <class V = float>
    FUSEKIT_HD static constexpr Prepared<V> prepare(std::int64_t k, Args const& args) {
        V const scale = args.scale(k), variance = args.variance(k);
        return {args.mean(k), math::over_sqrt(scale, variance + args.epsilon), args.shift(k)};
    }
};

template <>
struct BatchNormInference<PerActivation> : detail::BatchNorm<PerActivation> {
    static constexpr auto equation =
        "y = scale[k,p,q] * (x - mean[k,p,q]) / sqrt(variance[k,p,q] + epsilon) + shift[k,p,q]";
    static constexpr int flops_per_element = 6;

    template <class At>
    FUSEKIT_HD static constexpr auto prepare(At const& at, Args const& args)
        requires requires { at.load(args.mean); }
    {
        auto const mean = at.load(args.mean), variance = at.load(args.variance);
        return Prepared<std::remove_const_t<decltype(mean)>>{
            mean, math::over_sqrt(at.load(args.scale), variance + args.epsilon), at.load(args.shift)};
    }
};

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
