// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/math.hpp"
#include "fusekit/ops/operator.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

/// y[0,k,p,q] = scale[k] * (x[0,k,p,q] - m) / sqrt(v + epsilon) + shift[k], the GroupNorm of one image from statistics
/// of its channels: m and v are those of the K / groups channels of k's group,
///   m = mean of mean[j],  v = mean of variance[j] + (mean[j] - m)^2,  over the channels j of the group.
///
/// Maps one value to one value, so that it may precede a Conv, as its prologue. Arguments: mean and variance, K floats
/// each, as ChannelStatistics writes them; scale and shift, K floats each; groups, which divides K; epsilon.
/// Requires: one image, because ChannelStatistics are of all images; variance >= 0, v + epsilon > 0. m is subtracted
/// before the scale is applied, and m is a float plus its rounding error: a mean that is large beside the deviation
/// adds no error but that of the K statistics, |m| 2^-24 / sqrt(v) if each is rounded to a float. Source: Wu and He
/// 2018, eq. (7).
struct GroupNormFromStatistics {
    static constexpr auto stage = Stage::normalization;
    static constexpr auto equation =
        "y = scale[k] * (x - m) / sqrt(v + epsilon) + shift[k], m and v merged from the channels of k's group";
    static constexpr int flops_per_element = 3;
    struct Args {
        Required<ChannelParameters, field::mean> mean;
        Required<ChannelParameters, field::variance> variance;
        Required<ChannelParameters, field::scale> scale;
        Required<ChannelParameters, field::shift> shift;
        std::int64_t groups = 32;
        float epsilon = 1e-5f;
    };

    /// y = (x - mean) * scale + shift
    template <class V>
    struct Prepared {
        V mean, scale, shift;
    };
    template <class V = float>
    FUSEKIT_HD static constexpr Prepared<V> prepare(std::int64_t k, Args const& args) {
        // 32 bits: on a GPU a division of 64 bits is a call
        auto const channels =
            static_cast<std::uint32_t>(args.mean.layout.shape[0]) / static_cast<std::uint32_t>(args.groups);
        std::uint32_t const first = static_cast<std::uint32_t>(k) / channels * channels;
        V const count = V{} + static_cast<float>(channels), base = V{} + args.mean(first);
        // the group's mean less that of its first channel: the sum of large means would be rounded
        V apart{}, variance{};
        for (std::uint32_t j = first; j < first + channels; ++j) apart += math::assoc_barrier(args.mean(j) - base);
        apart /= count;
        for (std::uint32_t j = first; j < first + channels; ++j) {
            V const of_channel = math::assoc_barrier(args.mean(j) - base) - apart;
            variance += args.variance(j) + of_channel * of_channel;
        }
        V const scale = math::over_sqrt(V{} + args.scale(k), variance / count + args.epsilon);
        // `rest`: rounding error of base + apart (Dekker 1971)
        V const mean = math::assoc_barrier(base + apart), rest = apart - math::assoc_barrier(mean - base);
        return {mean, scale, args.shift(k) - rest * scale};
    }
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Prepared<V> const& channel) {
        return math::assoc_barrier(x - channel.mean) * channel.scale + channel.shift;
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V, Prepared<V> const& channel) {
        return channel.scale;
    }

    FUSEKIT_H static void check(Args const& args, Check const& in) {
        if (args.groups < 1 || in.y[1] % args.groups != 0)
            return in.fail("groups", "a divisor of K = " + Text::number(in.y[1]), Text::number(args.groups));
        in.require(in.y[0] == 1, "mean", "the statistics of one image", in.y[0]);
        in.readable("mean", args.mean, {{in.y[1]}}, "K");
        in.readable("variance", args.variance, {{in.y[1]}}, "K");
        in.readable("scale", args.scale, {{in.y[1]}}, "K");
        in.readable("shift", args.shift, {{in.y[1]}}, "K");
        in.require(args.epsilon >= 0 && args.epsilon <= 3e38f, "epsilon", "a finite number, 0 or more", args.epsilon);
    }
};

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
