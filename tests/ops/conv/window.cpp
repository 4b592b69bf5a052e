// SPDX-License-Identifier: MIT
#include "fusekit/ops/conv/window.hpp"

#include "fusekit/tensor/collapse.hpp"

namespace fk = fusekit;

namespace {

/// A filter of one mode is one row.
static_assert(fk::detail::with_rows(fk::filter(3).pad(1, 2).stride(2).dilation(4).groups(5)) ==
              fk::filter(1, 3).pad(0, 1, 0, 2).stride(1, 2).dilation(1, 4).groups(5));
static_assert(fk::detail::with_rows(fk::filter(3, 5)) == fk::filter(3, 5));
static_assert(fk::detail::window_rows(fk::filter(2, 3, 5)) == 6 &&
              fk::detail::window_columns(fk::filter(2, 3, 5)) == 5);
static_assert(fk::detail::window_rows(fk::filter(3, 5)) == 3);

/// Rows of x under the window: padding is outside, in a slice too.
constexpr fk::detail::SliceHeights<3> heights(fk::detail::collapse<4>(fk::ncdhw(1, 1, 9, 5, 1)).shape,
                                              fk::detail::collapse<4>(fk::ncdhw(1, 1, 9, 4, 1)).shape);
constexpr auto f = fk::filter(3, 2, 1).pad(1, 1, 0).stride(2, 1, 1).dilation(1, 3, 1);
static_assert(fk::detail::row_under(f, heights, 0, 1) < 0 &&
              fk::detail::row_under(f, heights, 0, 2) < 0);  // before the first slice; above it
static_assert(fk::detail::row_under(f, heights, 1, 2) == 0 && fk::detail::row_under(f, heights, 0, 3) == 2);
static_assert(fk::detail::column_under(fk::filter(3, 3).pad(1).stride(2).dilation(3), 4, 2) == 4 * 2 - 1 + 2 * 3);

}  // namespace
