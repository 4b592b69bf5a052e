// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/batch_norm/moments.hpp"
#include "fusekit/ops/batch_norm/normalization.hpp"
#include "fusekit/ops/operator.hpp"
#include "fusekit/tensor/optional_view.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

/// y = x; also computes the statistics that the next layer's batch norm needs, over n, p, q:
///   mean[k] = sum of x[n,k,p,q] / count,  variance[k] = sum of (x[n,k,p,q] - mean[k])^2 / count.
///
/// Arguments: mean and variance, outputs of K floats, in the form that BatchNormInference<Spatial> reads. Optional:
/// saved_inverse_deviation, an output of K floats, 1 / sqrt(variance + epsilon), which BatchNormTraining<Spatial>'s
/// backward pass reads together with mean; the running statistics, updated by momentum as in BatchNormTraining. In a
/// plan with a Conv also scratch, contiguous floats of any content, at least scratch(N x K x P x Q) of them (after a
/// Gemm, scratch((B M) x N)): the kernel writes the statistics of each tile of y there and merges them when all tiles
/// are computed. All arguments are disjoint in memory; runs that may overlap in time need separate ones.
/// Requires: at least 1 value per mean. An infinite or NaN value makes its channel's statistics NaN. The summation
/// order is fixed: results are bitwise identical from run to run. Statistics are of the values before y is rounded to
/// its element type. Sums are of differences from one of the channel's values, so that a mean that is large beside the
/// deviation does not cancel in the variance; the mean is rounded to a float at each merge. Source: as detail::Moments.
struct ChannelStatistics {
    static constexpr auto stage = Stage::pointwise;
    static constexpr auto equation = "y = x, mean[k] and variance[k] = those of x over n, p, q";
    static constexpr int flops_per_element = 4;
    struct Args {
        Required<TensorView<float, 1>, field::mean> mean;
        Required<TensorView<float, 1>, field::variance> variance;
        OptionalView<float, 1> scratch{};
        OptionalView<float, 1> saved_inverse_deviation{}, running_mean{}, running_variance{};
        float momentum = 0.1f, epsilon = 1e-5f;
    };

    template <class V>
    using Total = detail::Moments<V>;

    /// Number of floats of scratch for y of these extents in a plan with a Conv: one Total (statistics of one channel
    /// over one tile) per channel and 64 pixels.
    template <int Rank>
    FUSEKIT_H static constexpr std::int64_t scratch(Index<Rank> const& y) {
        return scratch_floats<ChannelStatistics>(y);
    }

    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return x;
    }

    /// Sums of x - shift and of (x - shift)^2 over the values of one channel, where shift is the first value added.
    template <class V>
    struct Accumulator : detail::MomentsAccumulator<V> {
        V begun{};

        FUSEKIT_HD constexpr void start(V) {}
        template <class Mask = bool>
        FUSEKIT_HD constexpr void add(V x, Mask counts = true) {
            V const first = math::select(begun > V{}, this->shift, x * detail::Moments<V>::unit);
            this->shift = math::select(counts, first, this->shift);
            begun = math::select(counts, V{} + 1.0f, begun);
            detail::MomentsAccumulator<V>::add(x, counts);
        }
    };
    template <class V>
    FUSEKIT_HD static constexpr void save(detail::Moments<V> const& total, OutputCoord const& at, Args const& args) {
        args.mean(at.k) = static_cast<float>(total.true_mean());
        args.variance(at.k) = static_cast<float>(total.variance());
        Channel::set(args.saved_inverse_deviation, at, math::over_sqrt(V{1}, total.variance() + args.epsilon));
        Channel::move(args.running_mean, at, total.true_mean(), args.momentum);
        Channel::move(args.running_variance, at, total.unbiased_variance(), args.momentum);
    }

    FUSEKIT_H static void check(Args const& args, Check const& in) {
        in.writable("mean", args.mean, {{in.y[1]}}, "K");
        in.writable("variance", args.variance, {{in.y[1]}}, "K");
        Channel::check_statistics(args, in.y[0] * in.y[2] * in.y[3], in);
    }

private:
    using Channel = detail::Normalizing<Spatial>;
};

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
