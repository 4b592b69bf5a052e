// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/tensor/view.hpp"

/// Extents, layouts and views whose last two modes (dimensions) are rows and columns, together with the user's original
/// modes, from which they were collapsed (tensor/collapse.hpp). Loops read the numbers alone; checks compare the
/// original modes too, and messages print them.
namespace fusekit {

/// Records the user's modes that were collapsed to rows and columns.
struct CollapsedFrom {
    enum Kind : std::uint8_t { matrices, signal, images, volumes };  // `signals` is a macro of Qt

    Kind kind = images;
    bool gaps = false;  ///< true if a volume's slices are not contiguous in memory
    /// Volumes: number of slices, into which the rows are divided, or no_slices(). Matrices: number of modes before M x
    /// K. Per-channel values: number of values per channel. Otherwise 1.
    Extent count = 1;

    FUSEKIT_H constexpr bool operator==(CollapsedFrom const&) const = default;

    /// Encodes zero slices in `count`, together with the rows of one slice.
    FUSEKIT_H static constexpr Extent no_slices(Extent slice_rows) { return INT64_MIN + slice_rows; }
    /// Volumes: the number of slices, and the rows of one slice, given `rows` in total.
    FUSEKIT_H constexpr Extent slices() const { return count < INT64_MIN / 2 ? 0 : count; }
    FUSEKIT_H constexpr Extent slice_rows(Extent rows) const {
        return count < INT64_MIN / 2 ? count - INT64_MIN : count == 0 ? 0 : rows / count;
    }
};

/// Collapsed extents. Equal shapes have equal original modes.
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

/// A TensorView or an AnyView, which loops read, together with its original modes.
template <class View>
struct CollapsedView : View {
    CollapsedFrom from;

    FUSEKIT_HD constexpr CollapsedView(View const& view, CollapsedFrom const& what = {}) : View(view), from(what) {}

    FUSEKIT_H constexpr CollapsedShape<View::rank> shape() const { return {this->layout.shape, from}; }
    FUSEKIT_H constexpr CollapsedLayout<View::rank> collapsed_layout() const { return {this->layout, from}; }
};

/// Original modes of a view; for a view that was not collapsed, the default.
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
