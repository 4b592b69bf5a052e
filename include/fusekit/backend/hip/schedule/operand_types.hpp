// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/plan/plan.hpp"
#include "fusekit/problem/conv.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/products.hpp"

namespace fusekit::hip {

/// Whether a plan multiplies floats by floats.
template <class Plan, Element T>
inline constexpr bool multiplies_floats =
    std::is_same_v<T, float> && std::is_same_v<typename Plan::Head::template WeightElement<T>, float>;

/// How the user wants a plan's floats to be multiplied (tensor/products.hpp); void where nothing is said.
template <class Plan>
using FloatFactor = typename detail::FactorOf<typename Plan::Head>::Type;

/// The factors of a plan of elements T: T, or floats cut to tf32, where the user wants it so.
template <class Plan, Element T>
using PlanFactor = std::conditional_t<multiplies_floats<Plan, T> && std::is_same_v<FloatFactor<Plan>, tf32>, tf32, T>;

/// Whether a plan has kernels for sm_90a's matrix units in this program: it multiplies half by half, or bfloat16 by
/// bfloat16.
template <class Plan, Element T>
inline constexpr bool has_matrix_units =
    arch::is_targeted<arch::Sm90a> && (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) &&
    std::is_same_v<typename Plan::Head::template WeightElement<T>, T>;

/// Whether it has kernels there that multiply floats as sums of bfloat16 (mma/bf16x6.hpp), or as tf32.
template <class Plan, Element T>
inline constexpr bool has_float_units =
    arch::is_targeted<arch::Sm90a> && multiplies_floats<Plan, T> && !std::is_same_v<FloatFactor<Plan>, float>;

/// Whether it multiplies elements of 8 bits there.
template <class Plan, Element T>
inline constexpr bool has_byte_units =
    arch::is_targeted<arch::Sm90a> && (std::is_same_v<T, int8> || std::is_same_v<T, e4m3> || std::is_same_v<T, e5m2>) &&
    std::is_same_v<typename Plan::Head::template WeightElement<T>, T>;

/// Whether a plan's head is a TransposedConv: its filters are those of a Conv, transposed and in reverse.
template <class Plan>
inline constexpr bool has_transposed_conv = detail::is_transposed<problem::GeometryOf<typename Plan::Head>>;

/// Whether its head may be several products: of groups of channels, or of a batch.
template <class Plan>
inline constexpr bool may_have_groups = Plan::Head::may_be_grouped || BatchedOp<typename Plan::Head>;

}  // namespace fusekit::hip
