// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/batch_norm/normalization.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

/// y[n,k,p,q] = scale[k] * (x[n,k,p,q] - mean[k]) / sqrt(variance[k] + epsilon) + shift[k], where mean and variance are
/// those of a batch that contains x: batch norm of training over several GPUs.
///
/// Forward it computes what BatchNormInference<Spatial> does. Backward<Plan<BatchNormSynchronized, ...>> has the
/// gradient of mean and variance too; it is elementwise, because the sums over the batch are arguments:
///   dx = scale / sqrt(variance + epsilon) * (g - shift_gradient / N - (x - mean) / sqrt(variance + epsilon) *
///   scale_gradient / N), g = dy * slopes of the other operators at x.
/// Arguments: mean, variance, scale, shift: K floats. For the gradient also scale_gradient and shift_gradient, K
/// floats, sums over all parts of the batch of the gradients that Backward<Plan<BatchNormInference<Spatial>, ...>>
/// writes for each part; total_count, one float: N, the values per channel of the whole batch, as MergedStatistics
/// writes it. Requires: variance >= 0, variance + epsilon > 0, N > 0 if x has elements. Source: Ioffe and Szegedy 2015,
/// section 3.
struct BatchNormSynchronized {
    static constexpr auto stage = Stage::normalization;
    static constexpr auto equation = "y = scale[k] * (x - mean[k]) / sqrt(variance[k] + epsilon) + shift[k]";
    static constexpr auto gradient_equation =
        "dx = scale * (g - shift_gradient / N - (x - mean) / sqrt(variance + epsilon) * scale_gradient / N) / "
        "sqrt(variance + epsilon), g = dy * slopes of the other operators at x";
    static constexpr int flops_per_element = 3;
    struct Args {
        Required<ChannelParameters, field::mean> mean;
        Required<ChannelParameters, field::variance> variance;
        Required<ChannelParameters, field::scale> scale;
        Required<ChannelParameters, field::shift> shift;
        OptionalView<float const, 1> scale_gradient{}, shift_gradient{}, total_count{};
        float epsilon = 1e-5f;
    };

    template <class V>
    using Prepared = detail::Normalization<V>;
    template <class V = float>
    FUSEKIT_HD static constexpr Prepared<V> prepare(std::int64_t k, Args const& args) {
        V const scale = args.scale(k), variance = args.variance(k);
        return {args.mean(k), math::over_sqrt(scale, variance + args.epsilon), args.shift(k)};
    }
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Prepared<V> const& prepared) {
        return prepared.apply(x);
    }

    /// Operator that replaces BatchNormSynchronized in a backward pass: also prepares the gradient's sums.
    struct Saved {
        using Args = BatchNormSynchronized::Args;
        static constexpr auto stage = Stage::normalization;
        static constexpr int flops_per_element = 3, gradient_flops_per_element = 5;

        /// dy: mean of g over the batch. along: coefficient of x - mean.
        template <class V>
        struct Prepared {
            V mean, scale, shift, dy, along;
        };
        template <class V = float>
        FUSEKIT_HD static constexpr Prepared<V> prepare(std::int64_t k, Args const& args) {
            V const scale = args.scale(k), variance = args.variance(k) + args.epsilon,
                    part = V{1} / V{args.total_count.view()(0)};
            return {args.mean(k), math::over_sqrt(scale, variance), args.shift(k), args.shift_gradient.view()(k) * part,
                    math::over_sqrt(V{args.scale_gradient.view()(k)}, variance) * part};
        }
        template <class V>
        FUSEKIT_HD static constexpr V apply(V x, Prepared<V> const& prepared) {
            return math::assoc_barrier(x - prepared.mean) * prepared.scale + prepared.shift;
        }
        /// dy/dx with mean and variance held constant.
        template <class V>
        FUSEKIT_HD static constexpr V slope(V, Prepared<V> const& prepared) {
            return prepared.scale;
        }
        /// dL/dx, given dy = dL/dy, with the gradient of mean and variance.
        template <class V>
        FUSEKIT_HD static constexpr V propagate(V x, V dy, Prepared<V> const& prepared) {
            return prepared.scale * (dy - prepared.dy - math::assoc_barrier(x - prepared.mean) * prepared.along);
        }

        FUSEKIT_H static void check(Args const& args, Check const& in) {
            BatchNormSynchronized::check(args, in);
            if (detail::has_no_elements(in.y)) return;
            char const* const sums = "the sum over all parts of the batch";
            if (!args.scale_gradient.given()) in.fail("scale_gradient", sums, "nothing");
            if (!args.shift_gradient.given()) in.fail("shift_gradient", sums, "nothing");
            if (!args.total_count.given()) in.fail("total_count", "the number of values of the batch", "nothing");
        }
    };

    FUSEKIT_H static void check(Args const& args, Check const& in) {
        in.readable("mean", args.mean, {{in.y[1]}}, "K");
        in.readable("variance", args.variance, {{in.y[1]}}, "K");
        in.readable("scale", args.scale, {{in.y[1]}}, "K");
        in.readable("shift", args.shift, {{in.y[1]}}, "K");
        auto const optional = [&](char const* argument, OptionalView<float const, 1> const& view, std::int64_t count,
                                  char const* modes) {
            if (view.given()) in.readable(argument, view, {{count}}, modes);
        };
        optional("scale_gradient", args.scale_gradient, in.y[1], "K");
        optional("shift_gradient", args.shift_gradient, in.y[1], "K");
        optional("total_count", args.total_count, 1, "1");
        in.require(args.epsilon >= 0 && args.epsilon <= 3e38f, "epsilon", "a finite number, 0 or more", args.epsilon);
    }
};

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
