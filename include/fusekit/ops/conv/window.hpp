// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/tensor/collapse.hpp"
#include "fusekit/tensor/filter.hpp"

/// Which elements of x a window covers, where tensors are collapsed into rows and columns and the filter is not.
namespace fusekit::detail {

/// A filter of one mode as the filter of one row that computes the same; any other as it is.
constexpr Filter<2> with_rows(Filter<1> const& f) {
    return {{1, f.size.w},    {0, f.pad_before.w}, {0, f.pad_after.w},
            {1, f.strides.w}, {1, f.dilations.w},  f.group_count};
}
template <int Rank>
constexpr Filter<Rank> with_rows(Filter<Rank> const& f) {
    return f;
}

/// The rows of a filter's window, those of all its slices, and its columns.
template <int Rank>
FUSEKIT_HD constexpr int window_rows(Filter<Rank> const& f) {
    return Rank == 3 ? f.size[0] * f.size[1] : f.size[0];
}
template <int Rank>
FUSEKIT_HD constexpr int window_columns(Filter<Rank> const& f) {
    return f.size[Rank - 1];
}

/// The extents of an output of K channels, N x K x P x Q, of x, N x C x H x W.
template <int Rank>
constexpr CollapsedShape<4> output_shape_of(Filter<Rank> const& f, CollapsedShape<4> const& x, Extent k) {
    CollapsedShape<4> y = x;
    y[1] = k;
    y[3] = f.output(Rank - 1, x[3]);
    if constexpr (Rank == 3) {
        y.from.count = f.output(0, x.from.count);
        y[2] = product_or_zero(y.from.count, f.output(1, expand<5>(x)[3]));
    } else {
        y[2] = f.output(0, x[2]);
    }
    return y;
}

/// The extents of K filters for x, K x C/groups x R x S.
template <int Rank>
constexpr CollapsedShape<4> filter_shape_of(Filter<Rank> const& f, CollapsedShape<4> const& x, Extent k) {
    CollapsedShape<4> weights = x;
    weights[0] = k, weights[1] = x[1] / f.group_count, weights[2] = window_rows(f), weights[3] = window_columns(f);
    weights.from.count = Rank == 3 ? f.size[0] : 1;
    return weights;
}

/// The rows of a slice of x and of y; nothing where there are no slices.
template <int Space>
struct SliceHeights {
    constexpr SliceHeights(CollapsedShape<4> const&, CollapsedShape<4> const&) {}
};
template <>
struct SliceHeights<3> {
    Extent x, y;

    constexpr SliceHeights(CollapsedShape<4> const& the_x, CollapsedShape<4> const& the_y)
        : x(the_x[2] / the_x.from.count), y(the_y[2] / the_y.from.count) {}
};

/// The row of x under row r of the window of row p of y; outside x's rows where that is padding.
constexpr Extent row_under(Filter<2> const& f, SliceHeights<2> const&, Extent p, int r) {
    return p * f.strides[0] - f.pad_before[0] + Extent{r} * f.dilations[0];
}
constexpr Extent row_under(Filter<3> const& f, SliceHeights<3> const& height, Extent p, int r) {
    Extent const slice = p / height.y, t = r / f.size[1];
    Extent const d = slice * f.strides[0] - f.pad_before[0] + t * f.dilations[0];
    Extent const h = (p - slice * height.y) * f.strides[1] - f.pad_before[1] + (r - t * f.size[1]) * f.dilations[1];
    return h >= 0 && h < height.x ? d * height.x + h : -1;
}

/// The column of x under column s of the window of column q of y; outside x's columns where that is padding.
template <int Rank>
constexpr Extent column_under(Filter<Rank> const& f, Extent q, int s) {
    return q * f.strides[Rank - 1] - f.pad_before[Rank - 1] + Extent{s} * f.dilations[Rank - 1];
}

}  // namespace fusekit::detail
