// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"
#include "fusekit/ops/operator.hpp"
#include "fusekit/tensor/optional_view.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

namespace detail {

struct ScaleGradient {
    OptionalView<float, 1> scale = {};

    FUSEKIT_H bool any() const { return scale.given(); }
};
struct ScaleAndShiftGradients {
    OptionalView<float, 1> scale = {}, shift = {};

    FUSEKIT_H bool any() const { return scale.given() || shift.given(); }
};

/// Operator y = x * scale[k] + shift[k] that a RowOp applies to its normalized values; a scale that is not given is 1,
/// a shift 0.
template <class TheArgs>
struct RowAffine {
    using Args = TheArgs;
    static constexpr auto stage = Stage::pointwise;
    static constexpr bool shifts = requires(Args const& args) { args.shift; };
    template <class V>
    struct Prepared {
        V scale, shift;
    };

    template <class V = float>
    FUSEKIT_HD static constexpr Prepared<V> prepare(std::int64_t k, Args const& args) {
        Prepared<V> result{V{} + 1, V{}};
        if (args.scale.given()) result.scale = args.scale.view()(k);
        if constexpr (shifts)
            if (args.shift.given()) result.shift = args.shift.view()(k);
        return result;
    }
    /// True if prepare_packet() may load `width` parameters at once: they are contiguous and aligned.
    template <std::size_t width>
    FUSEKIT_H static bool has_packets(Args const& args) {
        auto const is_packed = [](auto const& view) {
            return !view.given() ||
                   (view.layout.stride[0] == 1 && reinterpret_cast<std::uintptr_t>(view.data) % (4 * width) == 0);
        };
        if constexpr (shifts) return is_packed(args.scale) && is_packed(args.shift);
        else return is_packed(args.scale);
    }
    /// prepare() of channels k to k + width - 1. Preconditions: has_packets(), and k is a multiple of `width`.
    template <std::size_t width>
    FUSEKIT_HD static void prepare_packet(std::int64_t k, Args const& args, Prepared<float> (&result)[width]) {
        auto const load = [&](OptionalView<float const, 1> const& view, float otherwise, float(&to)[width]) {
            struct alignas(4 * width) Floats {
                float values[width];
            } floats;
            for (std::size_t i = 0; i < width; ++i) floats.values[i] = otherwise;
            if (view.given()) floats = *reinterpret_cast<Floats const*>(view.data + k);
            for (std::size_t i = 0; i < width; ++i) to[i] = floats.values[i];
        };
        float scale[width], shift[width] = {};
        load(args.scale, 1, scale);
        if constexpr (shifts) load(args.shift, 0, shift);
        for (std::size_t i = 0; i < width; ++i) result[i] = {scale[i], shift[i]};
    }
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Prepared<V> const& prepared) {
        if constexpr (shifts) return x * prepared.scale + prepared.shift;
        else return x * prepared.scale;
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V, Prepared<V> const& prepared) {
        return prepared.scale;
    }

    /// Outputs of a backward pass: scale[k] = sum of dy * normalized value, shift[k] = sum of dy, over n, p, q.
    using Gradients = std::conditional_t<shifts, ScaleAndShiftGradients, ScaleGradient>;
    static constexpr int gradient_sums = shifts ? 2 : 1;
    template <class V>
    FUSEKIT_HD static constexpr void add_gradients(V* sums, V x, V dy, Prepared<V> const&) {
        sums[0] += dy * x;
        if constexpr (shifts) sums[1] += dy;
    }
    template <class V>
    FUSEKIT_HD static constexpr void save_gradients(V const* sums, OutputCoord const& at, Args const&,
                                                    Gradients const& gradients) {
        if (gradients.scale.given()) gradients.scale.view()(at.k) = static_cast<float>(sums[0]);
        if constexpr (shifts)
            if (gradients.shift.given()) gradients.shift.view()(at.k) = static_cast<float>(sums[1]);
    }
    FUSEKIT_H static void check_gradients(Gradients const& gradients, Check const& in) {
        in.writable("gradients.scale", gradients.scale, {{in.y[1]}}, "K");
        if constexpr (shifts) in.writable("gradients.shift", gradients.shift, {{in.y[1]}}, "K");
    }
};

/// Base of the norms of rows by mean and variance: y = (x - mean) / sqrt(variance + epsilon) * scale[k] + shift[k],
/// with mean and variance = mean of (x - mean)^2 over a row. Sums are in float; the mean is subtracted before it is
/// squared. An infinite or NaN value makes its row NaN.
struct NormalizingRows {
    static constexpr auto stage = Stage::pointwise;
    static constexpr RowCenter center = RowCenter::mean;
    static constexpr auto gradient_equation =
        "dx = (g - mean of g - n * mean of g * n) / sqrt(variance + epsilon), n = the normalized x, g = dL/dn";
    static constexpr int flops_per_element = 8, gradient_flops_per_element = 8 + 10;
    template <class V>
    struct Row {
        V mean, inverse_deviation;
    };

    template <class V>
    FUSEKIT_HD static constexpr V term(V x, V mean) {
        V const deviation = math::assoc_barrier(x - mean);
        return deviation * deviation;
    }
    template <class V, class Args>
    FUSEKIT_HD static constexpr Row<V> finish(V mean, V sum, V count, Args const& args) {
        return {mean, math::over_sqrt(V{} + 1, sum / count + args.epsilon)};
    }
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Row<V> const& row) {
        return math::assoc_barrier(x - row.mean) * row.inverse_deviation;
    }
    template <class V>
    FUSEKIT_HD static constexpr V gradient(V g, V y, Row<V> const& row, RowSums<V> const& sums) {
        return row.inverse_deviation * (g - sums.g / sums.count - y * (sums.g_times_y / sums.count));
    }

    template <class Args>
    FUSEKIT_H static void check(Args const& args, Check const& in) {
        CollapsedShape<1> const channels{{{in.y[1]}}};
        if (args.scale.given()) in.readable("scale", args.scale.view(), channels, "K");
        if constexpr (requires { args.shift; })
            if (args.shift.given()) in.readable("shift", args.shift.view(), channels, "K");
        in.require(args.epsilon > 0 && args.epsilon <= 3e38f, "epsilon", "a finite number above 0", args.epsilon);
    }
};

}  // namespace detail

/// y[n,k,p,q] = scale[k] * (x[n,k,p,q] - mean) / sqrt(variance + epsilon) + shift[k], with mean and variance over the
/// channels k of the pixel (n, p, q); of matrices M x N and B x M x N, over each row of N values.
///
/// Only operators of one value may precede it. Arguments: scale and shift, K floats each, optional (1 and 0); epsilon >
/// 0. Source: Ba, Kiros and Hinton 2016, section 3.
struct LayerNorm : detail::NormalizingRows {
    static constexpr auto equation = "y = scale[k] * (x - mean) / sqrt(variance + epsilon) + shift[k], over all k";
    static constexpr bool over_pixels = false;
    struct Args {
        OptionalView<float const, 1> scale = {}, shift = {};
        float epsilon = 1e-5f;
    };
    using Affine = detail::RowAffine<Args>;
    FUSEKIT_HD static constexpr std::int64_t groups(Args const&, std::int64_t) { return 1; }
};

/// y[n,k,p,q] = scale[k] * x[n,k,p,q] / sqrt(mean of x^2 + epsilon), with the mean over the channels k of the pixel (n,
/// p, q); of matrices M x N and B x M x N, over each row of N values. |x| is below 2^63, so that squares are finite.
///
/// Only operators of one value may precede it. Arguments: scale, K floats, optional (1); epsilon > 0. Source: Zhang and
/// Sennrich 2019, eq. (4).
struct RmsNorm : detail::NormalizingRows {
    static constexpr auto equation = "y = scale[k] * x / sqrt(mean of x^2 + epsilon), over all k";
    static constexpr auto gradient_equation =
        "dx = (g - n * mean of g * n) / sqrt(mean of x^2 + epsilon), n = the normalized x, g = dL/dn";
    static constexpr RowCenter center = RowCenter::none;
    static constexpr bool over_pixels = false;
    static constexpr int flops_per_element = 4, gradient_flops_per_element = 4 + 7;
    struct Args {
        OptionalView<float const, 1> scale = {};
        float epsilon = 1e-5f;
    };
    using Affine = detail::RowAffine<Args>;
    template <class V>
    struct Row {
        V inverse;
    };

    FUSEKIT_HD static constexpr std::int64_t groups(Args const&, std::int64_t) { return 1; }
    template <class V>
    FUSEKIT_HD static constexpr V term(V x, V) {
        return x * x;
    }
    template <class V>
    FUSEKIT_HD static constexpr Row<V> finish(V, V sum, V count, Args const& args) {
        return {math::over_sqrt(V{} + 1, sum / count + args.epsilon)};
    }
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Row<V> const& row) {
        return x * row.inverse;
    }
    template <class V>
    FUSEKIT_HD static constexpr V gradient(V g, V y, Row<V> const& row, RowSums<V> const& sums) {
        return row.inverse * (g - y * (sums.g_times_y / sums.count));
    }
};

/// y[n,k,p,q] = scale[k] * (x[n,k,p,q] - mean) / sqrt(variance + epsilon) + shift[k], with mean and variance over the K
/// / groups channels of k's group and all pixels of image n. groups = 1: layer norm over C x H x W.
///
/// Only operators of one value may precede it. Arguments: groups, which divides K; scale and shift, K floats each,
/// optional (1 and 0); epsilon > 0. Source: Wu and He 2018, eq. (7).
struct GroupNorm : detail::NormalizingRows {
    static constexpr auto equation =
        "y = scale[k] * (x - mean) / sqrt(variance + epsilon) + shift[k], over k's group and p, q";
    static constexpr bool over_pixels = true;
    struct Args {
        std::int64_t groups = 32;
        OptionalView<float const, 1> scale = {}, shift = {};
        float epsilon = 1e-5f;
    };
    using Affine = detail::RowAffine<Args>;
    FUSEKIT_HD static constexpr std::int64_t groups(Args const& args, std::int64_t) { return args.groups; }

    FUSEKIT_H static void check(Args const& args, Check const& in) {
        if (args.groups < 1 || in.y[1] % args.groups != 0)
            return in.fail("groups", "a divisor of K = " + Text::number(in.y[1]), Text::number(args.groups));
        detail::NormalizingRows::check(args, in);
    }
};

/// GroupNorm of K groups: mean and variance over the pixels of one channel of one image. Arguments and conditions as of
/// GroupNorm, without groups. Source: Ulyanov, Vedaldi and Lempitsky 2016, eq. (2).
struct InstanceNorm : detail::NormalizingRows {
    static constexpr auto equation = "y = scale[k] * (x - mean) / sqrt(variance + epsilon) + shift[k], over p, q";
    static constexpr bool over_pixels = true;
    struct Args {
        OptionalView<float const, 1> scale = {}, shift = {};
        float epsilon = 1e-5f;
    };
    using Affine = detail::RowAffine<Args>;
    FUSEKIT_HD static constexpr std::int64_t groups(Args const&, std::int64_t channels) { return channels; }
};

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
