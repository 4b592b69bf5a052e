// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/tensor/view.hpp"

/// Which elements of a tensor are neighbours in memory, and how many of them one access may take. Backends choose their
/// loops by it.
namespace fusekit::problem {

/// Whether a pixel's channels are neighbours in memory, so that lanes may run along them; false for a single channel.
/// (channels_last() decides where a new output puts its channels, and is true of channels two apart, too.)
FUSEKIT_H constexpr bool channels_are_neighbours(Layout<4> const& layout) {
    return layout.stride[1] == 1 && layout.shape[1] > 1;
}

/// Whether rows of so many columns follow one another as their columns do, so that a plane is one long row.
FUSEKIT_H constexpr bool rows_follow(Extent row_stride, Extent column_stride, Extent columns) {
    return row_stride == columns * column_stride;
}
FUSEKIT_H constexpr bool planes_are_rows(Layout<4> const& layout) {
    return rows_follow(layout.stride[2], layout.stride[3], layout.shape[3]);
}

/// Whether the modes that `order` lists, slowest first, lie one after another without gaps. A mode of one element may
/// have any stride.
template <int Rank, int Count>
FUSEKIT_H constexpr bool dense(Layout<Rank> const& layout, Index<Count> const& order) {
    Extent stride = 1;
    for (int i = Count - 1; i >= 0; --i) {
        int const mode = static_cast<int>(order[i]);
        if (layout.shape[mode] != 1 && layout.stride[mode] != stride) return false;
        stride *= layout.shape[mode];
    }
    return true;
}

/// Whether x and y, of the same extents, lie in memory alike and without gaps.
FUSEKIT_H constexpr bool dense_alike(Layout<4> const& x, Layout<4> const& y) {
    Index<4> const order = channels_last(y) ? Index<4>{{0, 2, 3, 1}} : Index<4>{{0, 1, 2, 3}};
    return dense(x, order) && dense(y, order);
}

FUSEKIT_H inline bool aligned(void const* data, int bytes) {
    return reinterpret_cast<std::uintptr_t>(data) % static_cast<unsigned>(bytes) == 0;
}

namespace detail {

/// Whether steps along a mode keep the alignment of `count` elements.
FUSEKIT_H constexpr bool steps_whole(Layout<4> const& layout, int mode, int count) {
    return layout.shape[mode] == 1 || layout.stride[mode] % count == 0;
}

}  // namespace detail

/// Whether runs of `count` elements that begin at multiples of `count` along mode `fastest` are aligned in memory.
template <class T>
FUSEKIT_H bool vectorizable(TensorView<T> const& view, int count, int fastest) {
    Layout<4> const& layout = view.layout;
    for (int mode = 0; mode < 4; ++mode)
        if (mode != fastest && !detail::steps_whole(layout, mode, count)) return false;
    return layout.stride[fastest] == 1 && layout.shape[fastest] % count == 0 &&
           aligned(view.data, count * static_cast<int>(sizeof(T)));
}

/// Whether planes have no gaps and a multiple of `count` pixels, and all begin aligned.
template <class T>
FUSEKIT_H bool vectorizable_planes(TensorView<T> const& x, int count) {
    Index<4> const& shape = x.layout.shape;
    return dense(x.layout, Index<2>{{2, 3}}) && shape[2] * shape[3] % count == 0 &&
           detail::steps_whole(x.layout, 0, count) && detail::steps_whole(x.layout, 1, count) &&
           aligned(x.data, count * static_cast<int>(sizeof(T)));
}

/// Whether filters have no gaps along GemmK, taps fastest, and a multiple of `count` weights, and all begin aligned.
template <class T>
FUSEKIT_H bool vectorizable_taps(TensorView<T> const& w, int count) {
    Index<4> const& shape = w.layout.shape;
    return dense(w.layout, Index<3>{{1, 2, 3}}) && shape[1] * shape[2] * shape[3] % count == 0 &&
           detail::steps_whole(w.layout, 0, count) && aligned(w.data, count * static_cast<int>(sizeof(T)));
}

}  // namespace fusekit::problem
