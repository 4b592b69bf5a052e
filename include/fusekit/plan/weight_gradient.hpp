// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/plan/structure.hpp"

namespace fusekit::detail {

/// Sentences of the assertions below, for plans that are compiled at run time.
namespace weight_gradient_sentences {
inline constexpr char begins[] = "no operator may precede a ConvWeightGradient, which reads the x of the Conv";
inline constexpr char by_pixel[] =
    "only operators of the value and its coordinate, such as Scale and Residual, may follow a ConvWeightGradient, "
    "which computes weights";
}  // namespace weight_gradient_sentences

/// Static assertions on a plan with a ConvWeightGradient, whose values are weights and not pixels: operators that are
/// valid after it, and element types.
template <class Plan, Element T, int Rank>
consteval bool takes_weight_gradient() {
    using Epilogue = typename Plan::Epilogue;
    constexpr bool begins = !Plan::has_prologue;
    static_assert(begins, "no operator may precede a ConvWeightGradient, which reads the x of the Conv");
    constexpr bool by_pixel = !Epilogue::channelwise && !Epilogue::per_pixel && !Epilogue::collects && !Plan::pools;
    static_assert(by_pixel,
                  "only operators of the value and its coordinate, such as Scale and Residual, may follow a "
                  "ConvWeightGradient, which computes weights");
    constexpr bool floats = !std::is_same_v<T, int8>;
    static_assert(floats, "a ConvWeightGradient takes float, half, bfloat16 or double: int8 has no gradients");
    constexpr bool fits = Plan::Head::space == Rank - 2;
    static_assert(
        fits,
        "the ConvWeightGradient needs x of another number of modes: filter(s) 3, filter(r, s) 4, filter(t, r, s) 5");
    return begins && by_pixel && floats && fits;
}

}  // namespace fusekit::detail
