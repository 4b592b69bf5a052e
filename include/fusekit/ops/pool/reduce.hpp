// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"
#include "fusekit/ops/operator.hpp"

namespace fusekit {

/// Maximum of a window; NaN if one value is NaN.
struct Max {
    static constexpr auto equation = "y[n,k,p,q] = max of x[n,k,h,w] over the window's h, w";
    static constexpr bool may_repeat = true;  ///< true if adding a value to the result twice changes nothing
    FUSEKIT_H static Text name() { return "Max"; }
    template <class V>
    FUSEKIT_HD static constexpr V neutral() {
        return V{} + math::detail::lowest<math::Scalar<V>>;
    }
    template <class V>
    FUSEKIT_HD static constexpr V combine(V a, V b) {
        return math::select((a > b) | (a != a), a, b);
    }
    template <class V>
    FUSEKIT_HD static constexpr V finish(V total, std::int64_t) {
        return total;
    }
};

/// Mean of a window: the sum in float, divided by the number of values.
struct Average {
    static constexpr auto equation = "y[n,k,p,q] = mean of x[n,k,h,w] over the window's h, w";
    static constexpr bool may_repeat = false;
    FUSEKIT_H static Text name() { return "Average"; }
    template <class V>
    FUSEKIT_HD static constexpr V neutral() {
        return V{};
    }
    template <class V>
    FUSEKIT_HD static constexpr V combine(V a, V b) {
        return a + b;
    }
    template <class V>
    FUSEKIT_HD static constexpr V finish(V total, std::int64_t count) {
        return math::divide_exactly(total, V{} + static_cast<math::Scalar<V>>(count));
    }
};

/// Mean of a window whose padding counts as zeros: the sum, divided by the number of the window's elements inside the
/// padded image.
struct AverageWithPadding : Average {
    static constexpr auto equation = "y[n,k,p,q] = sum of x[n,k,h,w] over the window's h, w / elements with padding";
    static constexpr bool counts_padding = true;
    FUSEKIT_H static Text name() { return "AverageWithPadding"; }
};

/// Max whose Pool also writes, for each output, the position of the maximum in its window: taps[n,k,p,q] = r S + s, the
/// first maximum in row-major order. NaN is larger than every number. The maximum is element (p stride - top + r, q
/// stride - left + s) of x. Windows have at most 128 elements.
struct MaxWithTaps : Max {
    static constexpr bool writes_taps = true;
    FUSEKIT_H static Text name() { return "MaxWithTaps"; }
};

namespace detail {

template <class Of>
inline constexpr bool counts_padding = requires { requires Of::counts_padding; };
template <class Of>
inline constexpr bool writes_taps = requires { requires Of::writes_taps; };

/// A window's maximum so far and its position.
template <class V>
struct TappedMaximum {
    V value{};
    int tap = -1;

    FUSEKIT_HD constexpr void add(V x, int at) {
        if (tap < 0 || x > value || (x != x && value == value)) value = x, tap = at;
    }
};

/// Reduction of a window's values, which add() takes in row-major order with their taps: total by Reduce or, of
/// MaxWithTaps, the maximum and its tap.
template <class Reduce, class V = float>
struct WindowTotal {
    V value = Reduce::template neutral<V>();

    FUSEKIT_HD constexpr void add(V x, int) { value = Reduce::combine(value, x); }
    FUSEKIT_HD constexpr V finish(std::int64_t count) const { return Reduce::finish(value, count); }
};
template <class Reduce, class V>
    requires writes_taps<Reduce>
struct WindowTotal<Reduce, V> : TappedMaximum<V> {
    FUSEKIT_HD constexpr V finish(std::int64_t) const { return this->value; }
};

}  // namespace detail

}  // namespace fusekit
