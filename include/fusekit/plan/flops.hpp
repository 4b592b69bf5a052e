// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/plan/replay.hpp"
#include "fusekit/tensor/collapsed.hpp"

namespace fusekit::detail {

FUSEKIT_H inline double elements(Index<4> const& shape) {
    double product = 1;
    for (std::int64_t extent : shape.values) product *= static_cast<double>(extent);
    return product;
}

/// FLOPs of Op for an output of shape `y`: Op::flops(y, args), or Op::flops_per_element times the number of elements; 1
/// per element if Op has neither.
template <class Op>
FUSEKIT_H double flops_of(CollapsedShape<4> const& y, typename Op::Args const& args) {
    if constexpr (requires { Op::flops(y, args); }) return Op::flops(y, args);
    else if constexpr (requires { Op::flops_per_element; }) return Op::flops_per_element * elements(y);
    else return elements(y);
}

/// FLOPs per element that Op adds to a Backward plan: one multiplication of dy by Op's slope, and one addition per
/// parameter gradient of Op, unless Op states a number. With batch statistics the projection of dy (ProjectionOf)
/// replaces the multiplication.
template <class Op>
consteval int gradient_flops() {
    if constexpr (requires { Op::gradient_flops_per_element; }) return Op::gradient_flops_per_element;
    else if constexpr (requires { Op::gradient_sums; }) return 1 + Op::gradient_sums;
    else return is_passing<Replayed<Op>> ? 0 : 1;
}

}  // namespace fusekit::detail
