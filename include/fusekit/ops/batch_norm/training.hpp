// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/batch_norm/moments.hpp"
#include "fusekit/ops/batch_norm/normalization.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

/// y[n,k,p,q] = scale * (x[n,k,p,q] - mean) * inverse_deviation + shift, with this batch's statistics: mean over n
/// (Spatial: over n, p, q), variance = mean of (x - mean)^2, inverse_deviation = 1 / sqrt(variance + epsilon).
///
/// BatchNormTraining must be the first operator of its plan: the statistics, and so every result, depend on all values
/// of the channel.
/// Arguments: scale and shift, of BatchNormInference's shapes. Optional: saved_mean and saved_inverse_deviation,
/// outputs for the backward pass; the running statistics, both or neither, updated by
///   running_mean     += momentum * (mean - running_mean)
///   running_variance += momentum * (variance * count / (count - 1) - running_variance),
/// where momentum is MIOpen's expAvgFactor; with momentum 1 they are overwritten without being read. All are float for
/// every tensor type.
/// Requires: epsilon > 0; momentum in [0, 1]; at least 1 value per mean, 2 with running statistics. With a single value
/// per mean, y = shift. An infinite or NaN value makes its channel NaN.
/// Overflow: for up to 2^23 values with a mean below 2^80, no intermediate value overflows unless the variance does.
/// With a larger mean the square of its rounding error may overflow on one backend and not on another: the channel is
/// then NaN.
/// Source: Ioffe and Szegedy 2015, algorithm 1; sums as in detail::Moments.
template <class Mode>
struct BatchNormTraining : detail::Normalizing<Mode> {
    using Base = detail::Normalizing<Mode>;
    using Base::rank, Base::modes;
    static constexpr auto equation = "y = scale * (x - mean) / sqrt(variance + epsilon) + shift, of this batch";
    static constexpr auto gradient_equation =
        "dx = scale * (g - mean of g - (x - mean) * mean of g * (x - mean) / (variance + epsilon)) / "
        "sqrt(variance + epsilon), g = dy * slopes of the other operators at x";
    static constexpr int flops_per_element = 8, gradient_flops_per_element = 5 + 4;
    struct Args {
        Required<typename Base::Parameters, field::scale> scale;
        Required<typename Base::Parameters, field::shift> shift;
        OptionalView<float, rank> saved_mean = {}, saved_inverse_deviation = {};
        OptionalView<float, rank> running_mean = {}, running_variance = {};
        float momentum = 0.1f, epsilon = 1e-5f;
    };

    template <class V>
    using Accumulator = detail::MomentsAccumulator<V>;
    template <class V>
    using Total = detail::Moments<V>;

    /// Normalization without its statistics: y = x * scale + shift for a normalized x, with scale and shift per channel
    /// (Spatial) or per pixel (PerActivation). A backend prepares scale and shift in the first pass, before the
    /// statistics of the batch are known.
    struct Affine {
        using Args = BatchNormTraining::Args;
        static constexpr auto stage = Stage::normalization;
        template <class V>
        struct Prepared {
            V scale, shift;
        };

        template <class V = float>
        FUSEKIT_HD static constexpr Prepared<V> prepare(std::int64_t k, Args const& args)
            requires(!Base::per_pixel)
        {
            return {args.scale(k), args.shift(k)};
        }
        template <class At>
        FUSEKIT_HD static constexpr auto prepare(At const& at, Args const& args)
            requires(Base::per_pixel && requires { at.load(args.scale); })
        {
            auto const scale = at.load(args.scale);
            return Prepared<std::remove_const_t<decltype(scale)>>{scale, at.load(args.shift)};
        }
        template <class V>
        FUSEKIT_HD static constexpr V apply(V x, Prepared<V> const& prepared) {
            return x * prepared.scale + prepared.shift;
        }
    };

    /// Returns the map from x to y of one channel or pixel, given the Moments of its values and its scale and shift.
    template <class V>
    FUSEKIT_HD static constexpr detail::Normalization<V> finish(Total<V> const& total,
                                                                typename Affine::template Prepared<V> const& affine,
                                                                Args const& args) {
        return {total.true_mean(), math::over_sqrt(affine.scale, total.variance() + args.epsilon), affine.shift};
    }
    template <class V>
    FUSEKIT_HD static constexpr void save(Total<V> const& total, OutputCoord const& at, Args const& args) {
        Base::set(args.saved_mean, at, total.true_mean());
        Base::set(args.saved_inverse_deviation, at, math::over_sqrt(V{1}, total.variance() + args.epsilon));
        Base::move(args.running_mean, at, total.true_mean(), args.momentum);
        Base::move(args.running_variance, at, total.unbiased_variance(), args.momentum);
    }

    /// Operator that replaces BatchNormTraining when a backward pass recomputes y: normalizes x with saved_mean and
    /// saved_inverse_deviation, per channel or per pixel, instead of new statistics.
    struct Saved : Base {
        using Args = BatchNormTraining::Args;
        static constexpr int flops_per_element = Base::per_pixel ? 4 : 3;

        template <class V = float>
        FUSEKIT_HD static constexpr detail::Normalization<V> prepare(std::int64_t k, Args const& args)
            requires(!Base::per_pixel)
        {
            V const scale = args.scale(k), inverse = args.saved_inverse_deviation.view()(k);
            return {args.saved_mean.view()(k), scale * inverse, args.shift(k)};
        }
        template <class At>
        FUSEKIT_HD static constexpr auto prepare(At const& at, Args const& args)
            requires(Base::per_pixel && requires { at.load(args.scale); })
        {
            auto const mean = at.load(args.saved_mean.view()), inverse = at.load(args.saved_inverse_deviation.view());
            return detail::Normalization<std::remove_const_t<decltype(mean)>>{mean, at.load(args.scale) * inverse,
                                                                              at.load(args.shift)};
        }

        FUSEKIT_H static void check(Args const& args, Check const& in) {
            BatchNormTraining::check(args, in);
            char const* const expected = "the tensor that the forward run saved";
            if (detail::has_no_elements(Base::parameter_shape(in))) return;
            if (!args.saved_mean.given()) in.fail("saved_mean", expected, "nothing");
            if (!args.saved_inverse_deviation.given()) in.fail("saved_inverse_deviation", expected, "nothing");
        }
    };

    /// Function object of the backward pass: dx = scale * inverse_deviation * (dy - mean(dy) - (x - mean) * mean(dy *
    /// (x - mean)) * inverse_deviation^2). The two means over the batch are there because the statistics depend on
    /// every x. The field `dy` is mean(dy); `along` is the coefficient of x - mean.
    template <class V>
    struct Projection {
        V dy, along;

        FUSEKIT_HD constexpr V apply(V x, V dy_here, detail::Normalization<V> const& saved) const {
            return saved.scale * (dy_here - dy - math::assoc_barrier(x - saved.mean) * along);
        }
    };
    template <class V>
    FUSEKIT_HD static constexpr Projection<V> finish_gradients(V const* sums, std::int64_t count, OutputCoord const& at,
                                                               Args const& args) {
        V const inverse = Base::element(args.saved_inverse_deviation.view(), at), part = V{1} / static_cast<V>(count);
        return {sums[1] * part, sums[0] * part * inverse * inverse};
    }
    template <class V>
    FUSEKIT_HD static constexpr void save_gradients(V const* sums, OutputCoord const& at, Args const& args,
                                                    typename Base::Gradients const& gradients) {
        Base::set_gradients(sums, at, V{Base::element(args.saved_inverse_deviation.view(), at)}, gradients);
    }

    FUSEKIT_H static void check(Args const& args, Check const& in) {
        auto const shape = Base::parameter_shape(in);
        in.readable("scale", args.scale, shape, modes);
        in.readable("shift", args.shift, shape, modes);
        in.writable("saved_mean", args.saved_mean, shape, modes);
        Base::check_statistics(args, Base::per_pixel ? in.x[0] : in.x[0] * in.x[2] * in.x[3], in);
    }
};

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
