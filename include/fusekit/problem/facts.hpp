// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/tensor/view.hpp"

/// Contiguity and alignment of tensors, from which backends choose the vector width of accesses and the order of loops.
namespace fusekit::problem {

/// True if the channels of a pixel are contiguous, so that consecutive lanes may access consecutive channels; false for
/// a single channel. (channels_last(), which selects the layout of a new output, is also true for a channel stride of
/// 2.)
FUSEKIT_H constexpr bool channels_are_contiguous(Layout<4> const& layout) {
    return layout.stride[1] == 1 && layout.shape[1] > 1;
}

/// True if rows of `columns` pixels follow each other without gaps, so that a plane can be accessed as one row. Strides
/// are in elements.
FUSEKIT_H constexpr bool rows_follow(Extent row_stride, Extent column_stride, Extent columns) {
    return row_stride == columns * column_stride;
}
FUSEKIT_H constexpr bool planes_are_rows(Layout<4> const& layout) {
    return rows_follow(layout.stride[2], layout.stride[3], layout.shape[3]);
}

/// True if all pixels of all images, in order, are the same distance apart in memory.
FUSEKIT_H constexpr bool pixels_are_equidistant(Layout<4> const& layout) {
    return planes_are_rows(layout) && (layout.shape[0] == 1 || layout.stride[0] == layout.shape[2] * layout.stride[2]);
}

/// True if the modes in `order`, slowest first, are dense: without gaps in memory. A mode of extent 1 may have any
/// stride.
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

/// True if x and y, of equal extents, are both dense in y's memory order, NHWC or NCHW.
FUSEKIT_H constexpr bool dense_alike(Layout<4> const& x, Layout<4> const& y) {
    Index<4> const order = channels_last(y) ? Index<4>{{0, 2, 3, 1}} : Index<4>{{0, 1, 2, 3}};
    return dense(x, order) && dense(y, order);
}

/// True if an address is a multiple of `bytes`. At compile time there are no addresses, and all are assumed to be.
FUSEKIT_H constexpr bool aligned(void const* data, int bytes) {
    if (std::is_constant_evaluated()) return true;
    return reinterpret_cast<std::uintptr_t>(data) % static_cast<unsigned>(bytes) == 0;
}

namespace detail {

/// True if a step of 1 along `mode` moves an address by a multiple of `count` elements.
FUSEKIT_H constexpr bool steps_whole(Layout<4> const& layout, int mode, int count) {
    return layout.shape[mode] == 1 || layout.stride[mode] % count == 0;
}

}  // namespace detail

/// True if a vector of `count` elements along mode `fastest` is aligned in memory at every index that is a multiple of
/// `count`.
template <class T>
FUSEKIT_H constexpr bool vectorizable(TensorView<T> const& view, int count, int fastest) {
    Layout<4> const& layout = view.layout;
    for (int mode = 0; mode < 4; ++mode)
        if (mode != fastest && !detail::steps_whole(layout, mode, count)) return false;
    return layout.stride[fastest] == 1 && layout.shape[fastest] % count == 0 &&
           aligned(view.data, count * static_cast<int>(sizeof(T)));
}

/// True if each plane (image n, channel c) is dense, has a multiple of `count` pixels, and begins at a multiple of
/// `count` elements.
template <class T>
FUSEKIT_H constexpr bool vectorizable_planes(TensorView<T> const& x, int count) {
    Index<4> const& shape = x.layout.shape;
    return dense(x.layout, Index<2>{{2, 3}}) && shape[2] * shape[3] % count == 0 &&
           detail::steps_whole(x.layout, 0, count) && detail::steps_whole(x.layout, 1, count) &&
           aligned(x.data, count * static_cast<int>(sizeof(T)));
}

/// True if each filter is dense along GemmK with the taps as fastest modes (KCRS), has a multiple of `count` weights,
/// and begins at a multiple of `count` elements.
template <class T>
FUSEKIT_H constexpr bool vectorizable_taps(TensorView<T> const& w, int count) {
    Index<4> const& shape = w.layout.shape;
    return dense(w.layout, Index<3>{{1, 2, 3}}) && shape[1] * shape[2] * shape[3] % count == 0 &&
           detail::steps_whole(w.layout, 0, count) && aligned(w.data, count * static_cast<int>(sizeof(T)));
}

}  // namespace fusekit::problem
