// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"

namespace fusekit {

/// y[n,k,p,q] = x[n,k,p,q] * scale[k] + zero_point
///
/// Requantize must be the last operator of a plan on int8, whose result is stored rounded to nearest even and
/// saturated: Conv<...>, Bias, Requantize computes y = saturate(round((sum x w + bias[k]) * scale[k] + zero_point)).
/// The sum is an exact integer, converted to float once (rounded beyond 2^24). Bias, scale and zero_point are applied
/// in float with a rounding each; with fused multiply-add, scale and zero_point are one operation with one rounding.
///
/// Real values are s_x x, s_w[k] w and s_y (y - zero_point), with scales s_x, s_w[k] and s_y: then scale[k] = s_x
/// s_w[k] / s_y, and bias is in units of s_x s_w[k]. x has zero point 0; to use a zero point z of x, subtract z times
/// the sum of w[k,...] over all taps from bias[k], which is exact without padding. Weights have no zero point.
/// Arguments: scale, K floats; zero_point. Source: Jacob et al. 2018, eq. (4) and (5), with a float for the multiplier
/// M; rounding as in ONNX's QLinearConv.
struct Requantize {
    static constexpr auto stage = Stage::pointwise;
    static constexpr auto equation = "y = x * scale[k] + zero_point";
    static constexpr int flops_per_element = 2;
    struct Args {
        Required<ChannelParameters, field::scale> scale;
        float zero_point = 0;
    };

    template <class V>
    struct Prepared {
        V scale, zero_point;
    };
    FUSEKIT_HD static constexpr Prepared<float> prepare(std::int64_t k, Args const& args) {
        return {args.scale(k), args.zero_point};
    }
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Prepared<V> const& channel) {
        return x * channel.scale + channel.zero_point;
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V, Prepared<V> const& channel) {
        return channel.scale;
    }

    FUSEKIT_H static void check(Args const& args, Check const& in) {
        in.readable("scale", args.scale, {{in.y[1]}}, "K");
    }
};

}  // namespace fusekit
