// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/plan/structure.hpp"

namespace fusekit::detail {

/// Static assertions on a plan with a ConvWeightGradient, whose values are weights and not pixels: operators that are
/// valid after it, and element types.
template <class Plan, Element T, int Rank>
consteval bool takes_weight_gradient() {
    using Epilogue = typename Plan::Epilogue;
    constexpr bool begins = !Plan::has_prologue;
    static_assert(begins, "a ConvWeightGradient reads x as the Conv did: no operator stands before it");
    constexpr bool by_pixel = !Epilogue::channelwise && !Epilogue::per_pixel && !Epilogue::collects && !Plan::pools;
    static_assert(by_pixel,
                  "a ConvWeightGradient gives weights, which are no activations: after it stand operators of the "
                  "value and its coordinate alone, such as Scale and Residual");
    constexpr bool floats = !std::is_same_v<T, int8>;
    static_assert(floats, "a ConvWeightGradient takes float, half, bfloat16 or double: int8 has no gradients");
    constexpr bool fits = Plan::Head::space == Rank - 2;
    static_assert(fits,
                  "x has another rank than the ConvWeightGradient: filter(s) takes 3, filter(r, s) 4, filter(t, r, s) "
                  "5");
    return begins && by_pixel && floats && fits;
}

}  // namespace fusekit::detail
