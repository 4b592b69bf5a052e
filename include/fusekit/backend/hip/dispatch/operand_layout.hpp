// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/bulk_maps.hpp"
#include "fusekit/backend/hip/schedule/conv_case.hpp"
#include "fusekit/backend/hip/tuning/nvidia.hpp"
#include "fusekit/problem/conv.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::hip::detail {

/// True if rows and planes of an NCHW tensor are dense and each image starts at a multiple of 16 bytes.
template <class T>
FUSEKIT_H constexpr bool has_dense_planes(TensorView<T> const& view) {
    Index<4> const &shape = view.layout.shape, &stride = view.layout.stride;
    return (shape[3] == 1 || stride[3] == 1) && (shape[2] == 1 || stride[2] == shape[3]) &&
           (shape[1] == 1 || stride[1] == shape[2] * shape[3]) && (shape[0] == 1 || stride[0] > 0) &&
           stride[0] * static_cast<Extent>(sizeof(T)) % 16 == 0 && problem::aligned(view.data, 16);
}

/// True if the rows of a tensor's images, and the planes of its channels, follow each other without gaps.
FUSEKIT_H constexpr bool has_channels_in_planes(Layout<4> const& of) {
    return (of.shape[3] == 1 || of.stride[3] == 1) && (of.shape[2] == 1 || of.stride[2] == of.shape[3]) &&
           (of.shape[1] == 1 || of.stride[1] == of.shape[2] * of.shape[3]);
}

/// True if a tensor is dense with channels last, at a multiple of 16 bytes.
template <class T>
FUSEKIT_H constexpr bool has_dense_channels_last(TensorView<T> const& view) {
    Extent dense = 1;
    for (int const mode : {1, 3, 2, 0}) {
        if (view.layout.shape[mode] != 1 && view.layout.stride[mode] != dense) return false;
        dense *= view.layout.shape[mode];
    }
    return problem::aligned(view.data, 16);
}

/// True if channels are contiguous and the pixels of an image, counted row by row, have one stride; for 1x1 windows
/// (`single`) also the pixels of consecutive images.
FUSEKIT_H constexpr bool has_dense_pixels(Layout<4> const& layout, bool single) {
    Extent const step = step_of_pixels(layout);
    return layout.stride[1] == 1 && step >= layout.shape[1] && step < (1 << 30) &&
           (single ? pixel_stride(layout) > 0 : layout.shape[2] == 1 || layout.stride[2] == layout.shape[3] * step);
}

/// Memory order that x and y have in common, for a Planes schedule; PlanesOrder::none if it is neither NCHW nor NHWC.
/// With a Pool threads store single elements, so that y may have any strides.
template <class T, bool pools = false>
FUSEKIT_H constexpr PlanesOrder planes_order(TensorView<T const> const& x, TensorView<T> const& y,
                                             Filter<2> const& filter) {
    if (has_dense_planes(x) && (has_dense_planes(y) || (pools && y.layout.stride[1] != 1))) return PlanesOrder::planes;
    bool const single = is_single_pixels(filter);
    if (std::is_same_v<T, float> && has_dense_pixels(x.layout, single) && has_dense_pixels(y.layout, single) &&
        !unmet_by_tma(x.layout, x.data, sizeof(T)))
        return PlanesOrder::channels_last;
    return PlanesOrder::none;
}

/// True if the pixels of each row of x are dense, with contiguous channels.
FUSEKIT_H constexpr bool has_rows_of_pixels(Layout<4> const& x) {
    return (x.shape[1] == 1 || x.stride[1] == 1) && (x.shape[3] == 1 || x.stride[3] == x.shape[1]) &&
           x.shape[3] * x.shape[1] < std::int64_t{1} << 30;
}
/// True if rows and images of x start at multiples of 16 bytes, as TMA requires.
template <class T>
FUSEKIT_H constexpr bool has_aligned_rows(TensorView<T> const& x) {
    auto const steps_whole = [&](int mode) {
        Extent const stride = x.layout.stride[mode];
        return x.layout.shape[mode] == 1 || (stride > 0 && stride * static_cast<Extent>(sizeof(T)) % 16 == 0);
    };
    return steps_whole(2) && steps_whole(0) && problem::aligned(x.data, 16);
}

inline constexpr NamesForTma names_of_x{"x is not at a multiple of 16 bytes",
                                        "x's channel stride",
                                        {"bytes from one image of x to the next", "bytes from one row of x to the next",
                                         "bytes from one pixel of x to the next"}},
    names_of_w{"weights are not at a multiple of 16 bytes",
               "the weights' channel stride",
               {"bytes from one filter to the next", "bytes from one row of a filter to the next",
                "bytes from one tap to the next"}},
    names_of_y{"y is not at a multiple of 16 bytes",
               "y's channel stride",
               {"bytes from one image of y to the next", "bytes from one row of y to the next",
                "bytes from one pixel of y to the next"},
               holds(false, "y's pixels are not evenly spaced", "pass y without gaps")};

/// Returns the widest copy in bytes, a power of two up to 16, to which all pixels of a tensor (or taps of filters) are
/// aligned and which divides the bytes of their channels.
template <class T>
FUSEKIT_H constexpr int copy_bytes(TensorView<T> const& view) {
    Index<4> const &shape = view.layout.shape, &stride = view.layout.stride;
    auto bits = static_cast<std::uintptr_t>(shape[1]) * sizeof(T) | 16;
    if (!std::is_constant_evaluated()) bits |= reinterpret_cast<std::uintptr_t>(view.data);
    for (int const mode : {0, 2, 3})
        if (shape[mode] > 1) bits |= static_cast<std::uintptr_t>(stride[mode]) * sizeof(T);
    return static_cast<int>(bits & -bits);
}
/// Returns the alignment in bytes (8, 4 or 2) of all pixels of x and all taps of the weights, for threads that load
/// both because one is misaligned for TMA; 0 if channels are not contiguous.
template <class T, class W>
FUSEKIT_H constexpr int copied_bytes(TensorView<T> const& x, TensorView<W> const& w) {
    int const of_x = copy_bytes(x), of_w = copy_bytes(w), bytes = of_x < of_w ? of_x : of_w;
    return x.layout.stride[1] != 1 || w.layout.stride[1] != 1 ? 0 : bytes < 8 ? bytes : 8;
}

/// True if threads load x in k-tiles that pack the channels of several taps (copy/packed_taps.hpp), because by the cost
/// model TMA would take longer: its last k-tile of each tap has few channels.
template <class T, class W>
FUSEKIT_H constexpr bool packs_taps(TensorView<T> const& x, TensorView<W> const& w) {
    Index<4> const &shape = w.layout.shape, &stride = w.layout.stride;
    std::int64_t const channels = shape[1], taps = shape[2] * shape[3], packet = 16 / static_cast<int>(sizeof(T));
    bool const contiguous = x.layout.stride[1] == 1 && stride[1] == 1 && (shape[3] == 1 || stride[3] == channels) &&
                            (shape[2] == 1 || stride[2] == shape[3] * channels);
    return sizeof(T) == 2 && contiguous && taps <= 32 && copy_bytes(x) == 16 && copy_bytes(w) == 16 &&
           x.layout.span() / packet < std::int64_t{1} << 31 &&
           NvidiaTuning::costs.packing.saves(channels, taps, shape[0]);
}

/// Returns the first condition of TMA loads that channels-last x or weights do not meet, for results of U.
template <class U, class T, class W>
FUSEKIT_H constexpr Unmet unmet_by_loads(TensorView<T> const& x, TensorView<W> const& w) {
    return first_unmet(unmet_by_tma(x.layout, x.data, sizeof(T), names_of_x),
                       unmet_by_tma(w.layout, w.data, sizeof(W), names_of_w),
                       pairs_filters<U> ? unmet_by_pairs(w) : Unmet{});
}
/// Returns the first condition of TMA stores that channels-last y does not meet; its pixels may have any strides.
template <class U>
FUSEKIT_H constexpr Unmet unmet_by_stores(TensorView<U> const& y) {
    return first_unmet(unmet_by_packets(y), unmet_by_tma(y.layout, y.data, sizeof(U), names_of_y));
}
/// Returns the first condition of TMA stores of tiles of pixels that channels-last y does not meet; the pixels of a
/// `phased` y, tiles of a phase, need not be evenly spaced.
template <class U>
FUSEKIT_H constexpr Unmet unmet_by_tile_stores(TensorView<U> const& y, bool phased) {
    return first_unmet(unmet_by_stores(y), phased ? Unmet{} : unmet_by_gaps(y.layout, sizeof(U), names_of_y));
}
template <class T, class W, class U>
FUSEKIT_H constexpr Unmet unmet_by_layouts(TensorView<T> const& x, TensorView<W> const& w, TensorView<U> const& y) {
    return first_unmet(unmet_by_loads<U>(x, w), unmet_by_stores(y));
}
/// Returns the condition that threads cannot store y either: its pixels are not evenly spaced.
template <class U>
FUSEKIT_H constexpr Unmet unmet_by_thread_stores(TensorView<U> const& y) {
    return pixel_stride(y.layout) > 0 ? Unmet{} : names_of_y.gaps;
}

}  // namespace fusekit::hip::detail
