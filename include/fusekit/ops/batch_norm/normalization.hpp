// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/math.hpp"
#include "fusekit/ops/operator.hpp"
#include "fusekit/tensor/optional_view.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

namespace fusekit {

struct Spatial;        ///< statistics per channel: K values
struct PerActivation;  ///< statistics per channel and pixel: K x P x Q values

namespace detail {

/// y = (x - mean) * scale + shift, where scale already includes 1 / sqrt(variance + epsilon). The mean is subtracted
/// first, because x * scale + (shift - mean * scale) cancels when the mean is large.
template <class V>
struct Normalization {
    V mean, scale, shift;

    FUSEKIT_HD constexpr V apply(V x) const { return math::assoc_barrier(x - mean) * scale + shift; }
};

/// Base of BatchNormInference and BatchNormTraining: shapes of parameters, parameter gradients, argument checks. Mode:
/// statistics per channel (Spatial) or per channel and pixel (PerActivation).
template <class Mode>
struct Normalizing {
    static constexpr auto stage = Stage::normalization;
    static constexpr bool per_pixel = std::is_same_v<Mode, PerActivation>;
    static constexpr int rank = per_pixel ? 3 : 1;
    static constexpr char const* modes = per_pixel ? "K x P x Q" : "K";

    /// Type of the parameters' views: K x P x Q (PerActivation) or K (Spatial).
    using Parameters = std::conditional_t<per_pixel, PixelParameters, ChannelParameters>;

    template <class V>
    using Prepared = Normalization<V>;
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Prepared<V> const& prepared) {
        return prepared.apply(x);
    }
    template <class V>
    FUSEKIT_HD static constexpr V slope(V, Prepared<V> const& prepared) {
        return prepared.scale;
    }

    /// Outputs of a backward pass: scale = sum of dy * (x - mean) * inverse_deviation, shift = sum of dy, each over the
    /// elements that use the same scale and shift: over n, p, q (Spatial) or over n (PerActivation).
    struct Gradients {
        OptionalView<float, rank> scale = {}, shift = {};

        FUSEKIT_H bool any() const { return scale.given() || shift.given(); }
    };
    static constexpr int gradient_sums = 2, gradient_flops_per_element = 1 + 4;
    template <class V>
    FUSEKIT_HD static constexpr void add_gradients(V* sums, V x, V dy, Prepared<V> const& prepared) {
        sums[0] += dy * math::assoc_barrier(x - prepared.mean);
        sums[1] += dy;
    }
    FUSEKIT_H static void check_gradients(Gradients const& gradients, Check const& in) {
        in.writable("gradients.scale", gradients.scale, parameter_shape(in), modes);
        in.writable("gradients.shift", gradients.shift, parameter_shape(in), modes);
    }

    /// Writes `value` to the element of `view`, of a parameter's shape, that output coordinate `at` uses; does nothing
    /// if the view is not given.
    template <class V>
    FUSEKIT_HD static constexpr void set(OptionalView<float, rank> const& view, OutputCoord const& at, V value) {
        if (view.given()) element(view.view(), at) = static_cast<float>(value);
    }
    /// Updates the running statistic that output coordinate `at` uses: view += momentum * (to - view). With momentum 1
    /// it is `to`, and the previous value is not read. Does nothing if the view is not given.
    template <class V>
    FUSEKIT_HD static constexpr void move(OptionalView<float, rank> const& view, OutputCoord const& at, V to,
                                          float momentum) {
        if (!view.given()) return;
        if (momentum == 1) return set(view, at, to);
        float const running = element(view.view(), at);
        set(view, at, running + momentum * (to - running));
    }
    /// Checks the outputs of training (saved and running statistics), epsilon and momentum; each mean is over `count`
    /// values.
    template <class Args>
    FUSEKIT_H static void check_statistics(Args const& args, std::int64_t count, Check const& in) {
        in.writable("saved_inverse_deviation", args.saved_inverse_deviation, parameter_shape(in), modes);
        in.writable("running_mean", args.running_mean, parameter_shape(in), modes);
        in.writable("running_variance", args.running_variance, parameter_shape(in), modes);
        in.require(args.epsilon > 0 && args.epsilon <= 3e38f, "epsilon", "a finite number above 0", args.epsilon);
        in.require(args.momentum >= 0 && args.momentum <= 1, "momentum", "0 to 1", args.momentum);
        bool const running = args.running_mean.given();
        if (running != args.running_variance.given())
            in.fail(running ? "running_variance" : "running_mean", "both running statistics, or neither", "none");
        in.require(!running || count != 1, "running_variance",
                   "at least 2 values per mean, because the variance of 1 value is undefined", count);
    }

protected:
    FUSEKIT_H static CollapsedShape<rank> parameter_shape(Check const& in) {
        if constexpr (per_pixel) return image(in.y);
        else return {{{in.y[1]}}};
    }

    /// Element of a parameter's view, K or K x P x Q, that output coordinate `at` uses.
    template <class T>
    FUSEKIT_HD static constexpr T& element(TensorView<T, rank> const& view, OutputCoord const& at) {
        if constexpr (per_pixel) return view(at.k, at.p, at.q);
        else return view(at.k);
    }
    template <class V>
    FUSEKIT_HD static constexpr void set_gradients(V const* sums, OutputCoord const& at, V inverse_deviation,
                                                   Gradients const& gradients) {
        set(gradients.scale, at, sums[0] * inverse_deviation);
        set(gradients.shift, at, sums[1]);
    }
};

}  // namespace detail

}  // namespace fusekit

FUSEKIT_END_ORDERED_MATH
