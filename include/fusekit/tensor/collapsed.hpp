// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/tensor/view.hpp"

/// Extents, layouts and views whose last two modes are rows and columns, and which remember what the user gave
/// (tensor/collapse.hpp). Loops read the numbers alone; checks compare the rest too, and messages print it.
namespace fusekit {

/// What rows and columns stand for.
struct CollapsedFrom {
    enum Kind : std::uint8_t { matrices, signal, images, volumes };  // `signals` is a macro of Qt

    Kind kind = images;
    bool gaps = false;  ///< whether memory has gaps between the slices of volumes
    /// Volumes: slices, which all rows fall into, or no_slices(). Matrices: modes before M x K. Values of channels: how
    /// many each has. Else 1.
    Extent count = 1;

    FUSEKIT_H constexpr bool operator==(CollapsedFrom const&) const = default;

    /// The `count` of no slices, which keeps the rows of a slice.
    FUSEKIT_H static constexpr Extent no_slices(Extent slice_rows) { return INT64_MIN + slice_rows; }
    /// Volumes: the number of slices, and the rows of one, of `rows` in all.
    FUSEKIT_H constexpr Extent slices() const { return count < INT64_MIN / 2 ? 0 : count; }
    FUSEKIT_H constexpr Extent slice_rows(Extent rows) const {
        return count < INT64_MIN / 2 ? count - INT64_MIN : count == 0 ? 0 : rows / count;
    }
};

/// Extents. Equal ones also stand for the same extents.
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

/// A TensorView or an AnyView, which loops read, and what it stands for.
template <class View>
struct CollapsedView : View {
    CollapsedFrom from;

    FUSEKIT_HD constexpr CollapsedView(View const& view, CollapsedFrom const& what = {}) : View(view), from(what) {}

    FUSEKIT_H constexpr CollapsedShape<View::rank> shape() const { return {this->layout.shape, from}; }
    FUSEKIT_H constexpr CollapsedLayout<View::rank> collapsed_layout() const { return {this->layout, from}; }
};

/// What a view, collapsed or not, stands for.
template <class View>
FUSEKIT_H constexpr CollapsedFrom collapsed_from(View const& view) {
    if constexpr (requires { view.from; }) return view.from;
    else return {};
}

/// x or y of a plan.
template <class T>
using ImageView = CollapsedView<TensorView<T, 4>>;

}  // namespace detail

}  // namespace fusekit
