// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/plan/plan.hpp"
#include "fusekit/problem/conv.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/products.hpp"

namespace fusekit::hip {

namespace detail {

/// True for the 16-bit types that sm_90a's tensor cores multiply.
template <class T>
inline constexpr bool is_16_bits = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

/// True if GPUs of the architecture run sm_90a code.
FUSEKIT_H constexpr bool is_sm90a(Architecture architecture) {
    return with_tag(architecture, []<class Tag>(Tag) { return std::is_base_of_v<arch::Sm90a, Tag>; });
}

}  // namespace detail

/// True if a plan multiplies floats by floats.
template <class Plan, Element T>
inline constexpr bool multiplies_floats =
    std::is_same_v<T, float> && std::is_same_v<typename Plan::Head::template WeightElement<T>, float>;

/// Type: format that the user requests for the multiplication of floats (tensor/products.hpp); void if none is
/// requested.
template <class Plan>
using FloatFactor = typename detail::FactorOf<typename Plan::Head>::Type;

/// Type in which elements of type T are multiplied: tf32 if requested for floats, else T.
template <class Plan, Element T>
using PlanFactor = std::conditional_t<multiplies_floats<Plan, T> && std::is_same_v<FloatFactor<Plan>, tf32>, tf32, T>;

/// True if this program has kernels of the plan for sm_90a's tensor cores with 16-bit operands: half by half, or
/// bfloat16 by bfloat16.
template <class Plan, Element T>
inline constexpr bool has_matrix_units = arch::is_targeted<arch::Sm90a> && detail::is_16_bits<T> &&
                                         std::is_same_v<typename Plan::Head::template WeightElement<T>, T>;

/// True if a plan's head is a TransposedConv, which is computed as a convolution with K and C of the filters exchanged
/// and the taps reversed.
template <class Plan>
inline constexpr bool has_transposed_conv = detail::is_transposed<problem::GeometryOf<typename Plan::Head>>;

}  // namespace fusekit::hip
