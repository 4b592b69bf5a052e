// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/tensor/collapse.hpp"
#include "fusekit/tensor/filter.hpp"

/// Functions that map an output index and a filter tap to the element of x that the tap reads, for convolutions and
/// transposed convolutions. Tensors have collapsed modes, rows and columns, where the rows of a volume are those of all
/// its slices; filters keep their own one to three spatial modes.
namespace fusekit::detail {

/// Converts a filter of one spatial mode to a filter of one row (R = 1) with the same result; returns other filters
/// unchanged.
FUSEKIT_H constexpr Filter<2> with_rows(Filter<1> const& f) {
    return {{1, f.size.w},    {0, f.pad_before.w}, {0, f.pad_after.w},
            {1, f.strides.w}, {1, f.dilations.w},  f.group_count};
}
template <int Rank>
FUSEKIT_H constexpr Filter<Rank> with_rows(Filter<Rank> const& f) {
    return f;
}

/// Geometry of a transposed convolution, whose windows move over its input x. It contains `of_y()`, the filter whose
/// windows move over y. In each mode, tap i of y's index p reads x's index (p + pad_before - i dilation) / stride if
/// that is a whole number, else nothing. `Spreads`: a stride exceeds 1, so x has inserted zeros.
template <int Rank, bool Spreads>
struct TransposedFilter : private Filter<Rank> {
    static constexpr int rank = Rank;
    using Filter<Rank>::size, Filter<Rank>::group_count;

    FUSEKIT_HD constexpr explicit TransposedFilter(Filter<Rank> const& filter) : Filter<Rank>(filter) {}

    /// Filter of the convolution whose transpose this geometry is; its windows move over y.
    FUSEKIT_HD constexpr Filter<Rank> const& of_y() const { return *this; }
};

/// True if the windows of a geometry move over x with stride - 1 zeros inserted between adjacent elements: a transposed
/// convolution with a stride above 1.
template <class Geometry>
inline constexpr bool spreads = false;
template <int Rank>
inline constexpr bool spreads<TransposedFilter<Rank, true>> = true;

template <class Geometry>
inline constexpr bool is_transposed = false;
template <int Rank, bool Spreads>
inline constexpr bool is_transposed<TransposedFilter<Rank, Spreads>> = true;

/// Filter of the ordinary convolution over x whose windows read the same elements as those of the geometry. For a
/// transposed convolution the taps are in reverse order, and the padding may be negative.
template <int Rank>
FUSEKIT_HD constexpr Filter<Rank> const& window_filter(Filter<Rank> const& f) {
    return f;
}
template <int Rank>
FUSEKIT_HD constexpr Filter<Rank> window_filter(TransposedFilter<Rank, false> const& f) {
    Filter<Rank> windows = f.of_y();
    for (int mode = 0; mode < Rank; ++mode) {
        int const reach = (windows.size[mode] - 1) * windows.dilations[mode];
        windows.pad_before[mode] = reach - windows.pad_before[mode];
        windows.pad_after[mode] = reach - windows.pad_after[mode];
    }
    return windows;
}

template <int Rank, bool Spreads>
FUSEKIT_HD constexpr bool is_single_pixels(TransposedFilter<Rank, Spreads> const& f) {
    return is_single_pixels(f.of_y());
}

/// window_rows(): number of filter rows, R, or T R for a filter with slices. window_columns(): number of filter
/// columns, S.
template <class Geometry>
FUSEKIT_HD constexpr int window_rows(Geometry const& f) {
    return Geometry::rank == 3 ? f.size[0] * f.size[1] : f.size[0];
}
template <class Geometry>
FUSEKIT_HD constexpr int window_columns(Geometry const& f) {
    return f.size[Geometry::rank - 1];
}

/// first_tap(): index in x, in one mode, that tap 0 reads for output index p; negative in the padding. tap_distance():
/// distance in elements from the index of tap 0 to that of tap i. For a transposed convolution both count the zeros
/// inserted into x.
template <int Rank, class Int>
FUSEKIT_HD constexpr Int first_tap(Filter<Rank> const& f, int mode, Int p) {
    return p * f.strides[mode] - f.pad_before[mode];
}
template <int Rank, bool Spreads, class Int>
FUSEKIT_HD constexpr Int first_tap(TransposedFilter<Rank, Spreads> const& f, int mode, Int p) {
    return p + f.of_y().pad_before[mode];
}
template <int Rank, class Int>
FUSEKIT_HD constexpr Int tap_distance(Filter<Rank> const& f, int mode, Int i) {
    return i * f.dilations[mode];
}
template <int Rank, bool Spreads, class Int>
FUSEKIT_HD constexpr Int tap_distance(TransposedFilter<Rank, Spreads> const& f, int mode, Int i) {
    return -i * f.of_y().dilations[mode];
}

/// Index of x, in one mode, that tap i reads for output index p; out of bounds (-1, for example) if the tap reads no
/// element.
template <class Geometry>
FUSEKIT_H constexpr Extent coord_under(Geometry const& f, int mode, Extent p, int i) {
    Extent const coord = first_tap(f, mode, p) + tap_distance(f, mode, Extent{i});
    if constexpr (spreads<Geometry>) {
        int const step = f.of_y().strides[mode];
        return coord % step == 0 ? coord / step : -1;
    } else {
        return coord;
    }
}

/// Extents of an output of K channels, N x K x P x Q, for x of N x C x H x W.
template <int Rank>
FUSEKIT_H constexpr CollapsedShape<4> output_shape_of(Filter<Rank> const& f, CollapsedShape<4> const& x, Extent k) {
    CollapsedShape<4> y = x;
    y[1] = k;
    y[3] = f.output(Rank - 1, x[3]);
    if constexpr (Rank == 3) {
        Index<5> const of_x = expand<5>(x);
        set_slices(y, f.output(0, of_x[2]), f.output(1, of_x[3]));
    } else {
        y[2] = f.output(0, x[2]);
    }
    return y;
}

/// Extents of K filters for x, K x C/groups x R x S.
template <int Rank>
FUSEKIT_H constexpr CollapsedShape<4> filter_shape_of(Filter<Rank> const& f, CollapsedShape<4> const& x, Extent k) {
    CollapsedShape<4> weights = x;
    weights[0] = k, weights[1] = x[1] / f.group_count, weights[2] = window_rows(f), weights[3] = window_columns(f);
    weights.from.count = Rank == 3 ? f.size[0] : 1;
    return weights;
}

/// Heights of the slices of x and of y, in rows, for volumes; an empty struct for images and signals, which have no
/// slices.
template <int Space>
struct SliceHeights {
    FUSEKIT_H constexpr SliceHeights(CollapsedShape<4> const&, CollapsedShape<4> const&) {}
};
template <>
struct SliceHeights<3> {
    Extent x, y;

    FUSEKIT_H constexpr SliceHeights(CollapsedShape<4> const& the_x, CollapsedShape<4> const& the_y)
        : x(the_x.from.slice_rows(the_x[2])), y(the_y.from.slice_rows(the_y[2])) {}
};

/// Row of x that filter row r reads for row p of y; out of bounds for padding. Rows of volumes count through all
/// slices.
template <class Geometry>
FUSEKIT_H constexpr Extent row_under(Geometry const& f, SliceHeights<2> const&, Extent p, int r) {
    return coord_under(f, 0, p, r);
}
template <class Geometry>
FUSEKIT_H constexpr Extent row_under(Geometry const& f, SliceHeights<3> const& height, Extent p, int r) {
    Extent const slice = p / height.y;  // y has row p, so its slices are not empty
    int const t = r / f.size[1];
    Extent const d = coord_under(f, 0, slice, t), h = coord_under(f, 1, p - slice * height.y, r - t * f.size[1]);
    return h >= 0 && h < height.x ? d * height.x + h : -1;
}

/// Column of x that filter column s reads for column q of y; out of bounds for padding.
template <class Geometry>
FUSEKIT_H constexpr Extent column_under(Geometry const& f, Extent q, int s) {
    return coord_under(f, Geometry::rank - 1, q, s);
}

}  // namespace fusekit::detail
