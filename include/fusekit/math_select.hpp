// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "fusekit/config.hpp"

/// Lane-wise comparisons and selections for the types V of math.hpp: a float, a double or a CPU vector.
namespace fusekit::math {

using config::assoc_barrier;

namespace detail {

template <class V>
struct BitsOf {
    using Type = decltype(V{} < V{});
};
template <>
struct BitsOf<float> {
    using Type = std::int32_t;
};
template <class V>
using Bits = typename BitsOf<V>::Type;

/// Returns a V with x, a V or a number, in every lane.
template <class V, class Number>
FUSEKIT_HD constexpr V lanes(Number x) {
    if constexpr (std::is_arithmetic_v<Number> && !std::is_arithmetic_v<V>) return static_cast<float>(x) - V{};
    else return static_cast<V>(x);
}

/// Type of the result of select(mask, a, b), by a value: that of a or b or, if both are numbers, a float vector with
/// the mask's lanes.
template <class Mask, class A, class B>
FUSEKIT_HD constexpr auto either(Mask mask, A a, B b) {
    if constexpr (!std::is_arithmetic_v<A>) return a;
    else if constexpr (!std::is_arithmetic_v<B>) return b;
    else if constexpr (std::is_arithmetic_v<Mask>) return std::common_type_t<A, B>{};
    else return mask ? 1.0f : 0.0f;
}

inline constexpr float infinity = config::bit_cast<float>(0x7f800000),
                       not_a_number = config::bit_cast<float>(0x7fc00000);

/// Lowest number: -infinity, or the lowest finite number under -ffinite-math-only.
template <class V>
inline constexpr auto lowest = config::assumes_finite ? -(std::numeric_limits<V>::max)() : V{-infinity};

}  // namespace detail

/// Type of constants and parameters of an operator that computes in V: double for double, else float.
template <class V>
using Scalar = std::conditional_t<std::is_same_v<V, double>, double, float>;

/// Returns mask ? a : b, lane by lane, as in select(x > 0.0f, x, 0.0f). A number is broadcast to the other operand's
/// type, or, if both are numbers, to the mask's lanes.
template <class Mask, class A, class B>
FUSEKIT_HD constexpr auto select(Mask mask, A a, B b) {
    if constexpr (std::is_same_v<A, B> && (std::is_arithmetic_v<Mask> || !std::is_arithmetic_v<A>)) {
        return mask ? a : b;
    } else {
        using V = decltype(detail::either(mask, a, b));
        return mask ? detail::lanes<V>(a) : detail::lanes<V>(b);
    }
}

/// Returns y, or NaN if x is NaN.
template <class V>
FUSEKIT_HD constexpr V keep_nan(V x, V y) {
    return select(x == x, y, x);
}

/// Larger of x and bound; NaN if x is NaN.
template <class V>
FUSEKIT_HD constexpr V(max)(V x, float bound) {
    if constexpr (config::has_maximum && std::is_same_v<V, float>)
        if (!std::is_constant_evaluated()) return config::maximum(x, bound);
    return select(x < bound, V{} + bound, x);
}

/// Smaller of x and bound; NaN if x is NaN.
template <class V>
FUSEKIT_HD constexpr V(min)(V x, float bound) {
    if constexpr (config::has_maximum && std::is_same_v<V, float>)
        if (!std::is_constant_evaluated()) return config::minimum(x, bound);
    return select(x > bound, V{} + bound, x);
}

template <class V>
FUSEKIT_HD constexpr V(abs)(V x) {
    return config::bit_cast<V>(config::bit_cast<detail::Bits<V>>(x) & 0x7fffffff);
}

}  // namespace fusekit::math
