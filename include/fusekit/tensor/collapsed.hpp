// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/tensor/view.hpp"

/// Extents, layouts and views whose last two modes (dimensions) are rows and columns, with a record of the user's modes
/// from which they were collapsed (tensor/collapse.hpp). Loops read the collapsed numbers alone; checks also compare
/// the user's modes, and messages print them.
namespace fusekit {

/// Kind and counts of the user's modes that were collapsed to rows and columns.
struct CollapsedFrom {
    enum Kind : std::uint8_t { matrices, signal, images, volumes };  // `signals` is a macro of Qt

    Kind kind = images;
    bool gaps = false;  ///< true if a volume's slices have gaps between them in memory
    /// For volumes the number of slices, all of equal height, or no_slices(); for matrices the number of batch modes
    /// before M x K; for per-channel values the number of values per channel; else 1.
    Extent count = 1;

    FUSEKIT_H constexpr bool operator==(CollapsedFrom const&) const = default;

    /// Value of `count` for a volume of zero slices, each of `slice_rows` rows.
    FUSEKIT_H static constexpr Extent no_slices(Extent slice_rows) { return INT64_MIN + slice_rows; }
    /// Number of slices of a volume, and rows of one slice, given the `rows` of all slices.
    FUSEKIT_H constexpr Extent slices() const { return count < INT64_MIN / 2 ? 0 : count; }
    FUSEKIT_H constexpr Extent slice_rows(Extent rows) const {
        return count < INT64_MIN / 2 ? count - INT64_MIN : count == 0 ? 0 : rows / count;
    }
};

/// Collapsed extents; two are equal if the extents and the user's modes are.
template <int Rank>
struct CollapsedShape : Index<Rank> {
    CollapsedFrom from;

    FUSEKIT_H constexpr CollapsedShape(Index<Rank> const& extents = {}, CollapsedFrom const& what = {})
        : Index<Rank>(extents), from(what) {}

    FUSEKIT_H constexpr bool operator==(CollapsedShape const&) const = default;
    FUSEKIT_H constexpr bool operator==(Index<Rank> const& extents) const { return *this == CollapsedShape(extents); }
};

namespace detail {

template <int Rank>
struct CollapsedLayout {
    static constexpr int rank = Rank;

    CollapsedShape<Rank> shape;
    Index<Rank> stride;

    FUSEKIT_H constexpr CollapsedLayout(CollapsedShape<Rank> const& the_shape, Index<Rank> const& the_stride)
        : shape(the_shape), stride(the_stride) {}
    FUSEKIT_H constexpr CollapsedLayout(Layout<Rank> const& layout, CollapsedFrom const& what = {})
        : shape(layout.shape, what), stride(layout.stride) {}

    FUSEKIT_H constexpr Layout<Rank> layout() const { return {shape, stride}; }
    FUSEKIT_H constexpr bool operator==(CollapsedLayout const&) const = default;
};

/// A TensorView or an AnyView with collapsed modes, which loops read, and a record of the user's modes.
template <class View>
struct CollapsedView : View {
    CollapsedFrom from;

    FUSEKIT_HD constexpr CollapsedView(View const& view, CollapsedFrom const& what = {}) : View(view), from(what) {}

    FUSEKIT_H constexpr CollapsedShape<View::rank> shape() const { return {this->layout.shape, from}; }
    FUSEKIT_H constexpr CollapsedLayout<View::rank> collapsed_layout() const { return {this->layout, from}; }
};

/// User's modes of a view; two spatial modes (images) if the view was not collapsed.
template <class View>
FUSEKIT_H constexpr CollapsedFrom collapsed_from(View const& view) {
    if constexpr (requires { view.from; }) return view.from;
    else return {};
}

/// View of a plan's x or y, collapsed to N, C (or K), rows and columns.
template <class T>
using ImageView = CollapsedView<TensorView<T, 4>>;

}  // namespace detail

}  // namespace fusekit
