// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/math_instructions.hpp"
#include "fusekit/math_select.hpp"

FUSEKIT_BEGIN_ORDERED_MATH

/// Quotients of math.hpp's types that take a GPU fewer instructions than a / b.
namespace fusekit::math {

namespace detail {

/// True if V is the float of a GPU, which has instructions for 2^x, 1 / x and roots.
template <class V>
inline constexpr bool has_instructions = config::on_device && std::is_same_v<V, float>;

}  // namespace detail

/// a / b for 2^-126 <= |b| <= 2^126, correctly rounded; on a GPU to 2 ulp.
template <class V>
FUSEKIT_HD constexpr V divide(V a, V b) {
    if constexpr (detail::has_instructions<V>)
        if (!std::is_constant_evaluated()) return a * config::reciprocal(b);
    return a / b;
}

/// a / b for 1 <= b <= 2^126, correctly rounded if the result is above 2^-102. On a GPU by a quotient's remainder and
/// 1 / b, which a compiler computes once for many a; there -0 / b is 0.
template <class V>
FUSEKIT_HD constexpr V divide_exactly(V a, V b) {
    if constexpr (detail::has_instructions<V>)
        if (!std::is_constant_evaluated()) {
            float const share = 1.0f / b, estimate = a * share, remainder = config::fused(-estimate, b, a);
            return select(remainder == remainder, config::fused(remainder, share, estimate), estimate);
        }
    return a / b;
}

}  // namespace fusekit::math

FUSEKIT_END_ORDERED_MATH
