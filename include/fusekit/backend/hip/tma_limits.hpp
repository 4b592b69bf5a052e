// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/unmet.hpp"
#include "fusekit/problem/facts.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/view.hpp"

/// Conditions of TMA loads and stores on tensors and filters.
namespace fusekit::hip::detail {

/// Error if the driver cannot encode a tensor map, although all conditions of this file are met.
inline constexpr Unmet not_encoded = holds(false, "TMA does not address the operands", "use MatrixGemm");

/// Names of a tensor's quantities in error messages: its address, its channel stride, and its strides along images (or
/// filters), rows and columns. `gaps` is the error if no single stride leads from each pixel to the next.
struct NamesForTma {
    char const *address = "", *channel_stride = "", *strides[3] = {"", "", ""};
    Unmet gaps = not_encoded;
};

/// Returns the first TMA condition on a tensor's layout that is not met: channel stride 1, an address aligned to 16
/// bytes, and all other strides positive multiples of 16 bytes below 2^40 bytes.
FUSEKIT_H constexpr Unmet unmet_by_tma(Layout<4> const& layout, void const* data, std::size_t element_bytes,
                                       NamesForTma const& names = {}) {
    constexpr int modes[] = {0, 2, 3};
    Unmet unmet = first_unmet(equal(names.channel_stride, layout.stride[1], 1, "pass it channels-last"),
                              holds(problem::aligned(data, 16), names.address, "align it to 16 bytes"));
    for (int i = 0; i < 3 && !unmet; ++i) {
        Extent const bytes = layout.stride[modes[i]] * static_cast<Extent>(element_bytes);
        if (layout.shape[modes[i]] > 1)
            unmet = first_unmet(multiple_of(names.strides[i], bytes, 16, "pad the channels, or use MatrixGemm"),
                                at_least(names.strides[i], bytes, 1, "use MatrixGemm"),
                                at_most(names.strides[i], bytes, (Extent{1} << 40) - 1, "use MatrixGemm"));
    }
    return unmet;
}

/// Distance in elements between adjacent pixels of a row; if the image has one column, of a column; if it has one
/// pixel, between consecutive images.
FUSEKIT_HD constexpr Extent step_of_pixels(Layout<4> const& layout) {
    Index<4> const &shape = layout.shape, &stride = layout.stride;
    return shape[3] > 1 ? stride[3] : shape[2] > 1 ? stride[2] : shape[0] > 1 ? stride[0] : shape[1];
}

/// Distance in elements from each pixel of a batch to the next, if it is the same for all; else 0.
FUSEKIT_H constexpr Extent pixel_stride(Layout<4> const& layout) {
    Index<4> const &shape = layout.shape, &stride = layout.stride;
    Extent const columns = shape[3], rows = shape[2], images = shape[0], step = step_of_pixels(layout);
    bool const follow =
        (rows == 1 || stride[2] == columns * step) && (images == 1 || stride[0] == rows * columns * step);
    return follow ? step : 0;
}

/// Returns an unmet condition if no single stride, a multiple of 16 bytes, leads from each pixel of a batch to the
/// next.
FUSEKIT_H constexpr Unmet unmet_by_gaps(Layout<4> const& layout, std::size_t element_bytes, NamesForTma const& names) {
    Extent const bytes = pixel_stride(layout) * static_cast<Extent>(element_bytes);
    return bytes > 0 && bytes % 16 == 0 ? Unmet{} : names.gaps;
}

/// Returns the first unmet condition on a tensor whose pixels TMA loads as the rows of a matrix.
FUSEKIT_H constexpr Unmet unmet_by_pixels(Layout<4> const& layout, void const* data, std::size_t element_bytes,
                                          NamesForTma const& names = {}) {
    return first_unmet(unmet_by_tma(layout, data, element_bytes, names), unmet_by_gaps(layout, element_bytes, names));
}

/// Channels of a k-block of 16-bit elements.
inline constexpr int whole_block = 16;

/// True if boxes of a TransposedConv's filters, of 16-bit elements, read past a tap where y's channels end. Rows of
/// taps of less than 80 bytes share lines of L2, where a box of 128 bytes per row takes longer than a clipped one.
FUSEKIT_H constexpr bool reads_past_taps(std::int64_t channels, std::int64_t taps) {
    return channels % 64 != 0 && channels * taps >= 40;
}

/// Largest distance, in pixels, between windows of adjacent output pixels that TMA's im2col mode supports.
inline constexpr int max_im2col_stride = 8;

/// Returns the first limit of TMA's im2col mode that a filter exceeds; a met condition if there is none. Maps of
/// several groups have five modes, and lower limits.
[[gnu::cold]] FUSEKIT_H constexpr Unmet unmet_by_im2col(Filter<2> const& filter, bool grouped = false) {
    std::int64_t const corner = grouped ? 16 : 128;
    Unmet unmet;
    for (int mode = 0; mode < 2 && !unmet; ++mode) {
        std::int64_t const reach = (std::int64_t{filter.size[mode]} - 1) * filter.dilations[mode];
        unmet = first_unmet(at_most("(taps of a mode - 1) * dilation", reach, grouped ? 31 : 255, "use MatrixGemm"),
                            at_most("pad_before", filter.pad_before[mode], corner, "use MatrixGemm"),
                            at_most("pad_after", filter.pad_after[mode], corner - 1, "use MatrixGemm"),
                            at_most("stride", filter.strides[mode], max_im2col_stride, "use MatrixGemm"),
                            at_most("(taps of a mode - 1) * dilation - pad_after", reach - filter.pad_after[mode],
                                    corner, "use MatrixGemm"));
    }
    return unmet;
}

/// Returns the first limit of TMA's im2col mode that the loads of a plan with a 2 x 2 pool exceed. A map of the windows
/// of even rows has twice the stride; the windows of odd rows are stride_h taps below them.
[[gnu::cold]] FUSEKIT_H constexpr Unmet unmet_by_pool(Filter<2> const& filter, bool grouped) {
    std::int64_t const below = (std::int64_t{filter.size[0]} - 1) * filter.dilations[0] + filter.strides[0];
    return first_unmet(
        unmet_by_im2col(filter, grouped),
        at_most("stride_h, before a Pool", filter.strides[0], max_im2col_stride / 2, "use MatrixGemm"),
        at_most("(R - 1) * dilation_h + stride_h, before a Pool", below, grouped ? 31 : 255, "use MatrixGemm"));
}

/// Returns an unmet condition if the channels of a pixel of y are not a multiple of 16 bytes: TMA stores write
/// multiples of 16 bytes, and on an H100 a store overwrote up to 15 bytes after the last channel.
template <class U>
FUSEKIT_H constexpr Unmet unmet_by_packets(TensorView<U> const& y) {
    return multiple_of("bytes of a pixel of y", y.layout.shape[1] * static_cast<Extent>(sizeof(U)), 16,
                       "use MatrixGemm");
}

/// Returns the first unmet condition for loading the even filters of each 16 before the odd ones (pairs_filters), for
/// 8-bit results: K a multiple of 16, and one stride from each tap to the next.
template <class W>
FUSEKIT_H constexpr Unmet unmet_by_pairs(TensorView<W> const& w) {
    Index<4> const &filters = w.layout.shape, &stride = w.layout.stride;
    bool const rows = filters[2] > 1 && filters[3] > 1;
    return first_unmet(multiple_of("K", filters[0], 16, "use NativeGemm"),
                       equal("the weights' row stride", rows ? stride[2] : 0, rows ? filters[3] * stride[3] : 0,
                             "pass rows of taps without gaps, or use NativeGemm"));
}

}  // namespace fusekit::hip::detail
