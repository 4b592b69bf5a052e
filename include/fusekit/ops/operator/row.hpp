// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>

#include "fusekit/abi.hpp"

namespace fusekit {

/// Value of a row that RowOp::term() takes: none, the mean, or the maximum of its values.
enum class RowCenter { none, mean, maximum };

/// Concept of operators whose results depend on all values of a row: the channels of one pixel or, if `over_pixels`,
/// one of groups(args, channels) equal groups of channels in all pixels of one image. With the `count` values x of a
/// row, in float or a CPU vector of rows:
///   row = finish(center, sum of term(x, center) over the row, count, args), a Row<V>
///   y = apply(x, row), then the operator Affine, with parameters per channel (void: none).
template <class Op>
concept ReducesRows = requires(float x, typename Op::template Row<float> row, typename Op::Args const& args) {
    typename Op::Affine;
    { Op::over_pixels } -> std::convertible_to<bool>;
    { Op::center } -> std::convertible_to<RowCenter>;
    { Op::groups(args, std::int64_t{}) } -> std::same_as<std::int64_t>;
    { Op::term(x, x) } -> std::same_as<float>;
    { Op::finish(x, x, x, args) } -> std::same_as<typename Op::template Row<float>>;
    { Op::apply(x, row) } -> std::same_as<float>;
};

/// Sums over the `count` values of a row that a gradient reads: of g = dL/dy, and of g * y.
template <class V>
struct RowSums {
    V g, g_times_y, count;
};

/// Concept of operators of rows with a derivative: dL/dx = gradient(g, y, row, sums) for y = apply(x, row) and g =
/// dL/dy. An Affine has Gradients of its parameters, as Bias has.
template <class Op>
concept HasRowGradient = requires(float x, typename Op::template Row<float> row, RowSums<float> sums) {
    { Op::gradient(x, x, row, sums) } -> std::same_as<float>;
};

}  // namespace fusekit
