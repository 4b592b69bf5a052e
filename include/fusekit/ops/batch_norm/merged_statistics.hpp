// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/batch_norm/moments.hpp"
#include "fusekit/ops/batch_norm/normalization.hpp"
#include "fusekit/ops/operator.hpp"
#include "fusekit/tensor/optional_view.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

/// y = x; merges the channel statistics of R disjoint parts of a batch, such as those of R GPUs, to the statistics of
/// the whole batch. x[r,k], R x K x 1 x 1, are the means of the parts' channels; with N = sum of count[r]
///   mean[k] = sum of count[r] * x[r,k] / N,
///   variance[k] = sum of count[r] * (variances[r,k] + (x[r,k] - mean[k])^2) / N.
///
/// Arguments: variances, of x's shape, and count, R floats: what ChannelStatistics computed on each part, and its
/// number N P Q of values per channel. A part with count 0 has no effect, even if its mean and variance are NaN.
/// mean and variance, outputs of K floats, which BatchNormInference<Spatial> and BatchNormSynchronized read. Optional
/// outputs: total_count, one float, N; saved_inverse_deviation, K floats, 1 / sqrt(variance + epsilon); the running
/// statistics, updated as in BatchNormTraining, but unchanged if N < 2, because the variance of 1 value is undefined.
/// Without any value mean and variance are 0.
///
/// Counts, means and variances cannot be added up, so that the parts have to be gathered (all-gather), not reduced:
/// sums of x and x^2, which can be added, would cancel. The merge adds terms that are not negative and takes the
/// difference of means before it squares them. The summation order depends on R and K alone: every GPU of one kind that
/// merges the same parts has bitwise identical results. Source: Chan, Golub and LeVeque 1979, eq. (2.1).
/// Requires: x of float or double; counts >= 0; a plan without a Conv or Gemm.
struct MergedStatistics {
    static constexpr auto stage = Stage::pointwise;
    static constexpr auto equation = "y = x, mean[k] and variance[k] = those of parts n with means x, merged";
    static constexpr int flops_per_element = 12;
    struct Args {
        Required<AnyActivations, field::variances> variances;
        Required<TensorView<float const, 1>, field::count> count;
        Required<TensorView<float, 1>, field::mean> mean;
        Required<TensorView<float, 1>, field::variance> variance;
        OptionalView<float, 1> total_count{}, saved_inverse_deviation{}, running_mean{}, running_variance{};
        float momentum = 0.1f, epsilon = 1e-5f;
    };

    template <class V>
    using Total = detail::Moments<V>;

    template <class V, class At>
    FUSEKIT_HD static constexpr V apply(V x, At const&, Args const&) {
        return x;
    }

    /// Moments of the parts added, with means relative to `shift`, the mean of the first part that has values.
    template <class V>
    struct Accumulator {
        V shift{};
        detail::Moments<V> all{};

        FUSEKIT_HD constexpr void start(V) {}
        template <class At, class Mask = bool>
        FUSEKIT_HD constexpr void add(V mean, At const& at, Args const& args, Mask counts = true) {
            constexpr float unit = detail::Moments<V>::unit;
            auto const& counts_of = args.count;
            AnyView<4> const count_of_row(TensorView<float const>(
                counts_of.data, {{{args.variances.layout.shape[0], args.variances.layout.shape[1], 1, 1}},
                                 {{counts_of.layout.stride[0], 0, 0, 0}}}));
            V const count = math::select(counts, at.load(count_of_row), V{});
            V const scaled = math::select(count > V{}, mean * unit, shift);
            V const variance = math::select(count > V{}, at.load(args.variances), V{});
            shift = math::select(all.count > V{}, shift, scaled);
            all = merge(all, {count, math::assoc_barrier(scaled - shift), variance * (unit * unit) * count});
        }
        FUSEKIT_HD constexpr detail::Moments<V> total(V) const { return {all.count, all.mean + shift, all.deviations}; }
    };
    template <class V>
    FUSEKIT_HD static constexpr void save(detail::Moments<V> const& total, OutputCoord const& at, Args const& args) {
        constexpr float per_unit = detail::Moments<V>::per_unit;
        V const mean = total.true_mean(),
                variance = total.deviations / detail::Moments<V>::at_least_one(total.count) * (per_unit * per_unit);
        args.mean(at.k) = static_cast<float>(mean);
        args.variance(at.k) = static_cast<float>(variance);
        if (at.k == 0) Channel::set(args.total_count, at, total.count);
        Channel::set(args.saved_inverse_deviation, at, math::over_sqrt(V{1}, variance + args.epsilon));
        if (!(total.count > 1)) return;
        Channel::move(args.running_mean, at, mean, args.momentum);
        Channel::move(args.running_variance, at, total.unbiased_variance(), args.momentum);
    }

    FUSEKIT_H static constexpr void views(Args& args, auto const& f) { f(args.variances); }
    FUSEKIT_H static void check(Args const& args, Check const& in) {
        if (in.type != DataType::float32 && in.type != DataType::float64)
            in.fail("x", "means of float or double", name(in.type));
        in.readable("variances", args.variances, in.y, "N x K x P x Q");
        in.readable("count", args.count, {{in.y[0]}}, "N");
        in.require(in.y[2] * in.y[3] == 1, "x", "one mean per part and channel, R x K x 1 x 1", in.y[2] * in.y[3]);
        in.writable("mean", args.mean, {{in.y[1]}}, "K");
        in.writable("variance", args.variance, {{in.y[1]}}, "K");
        in.writable("total_count", args.total_count, {{1}}, "1");
        Channel::check_statistics(args, 2, in);
    }

private:
    using Channel = detail::Normalizing<Spatial>;
};

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
