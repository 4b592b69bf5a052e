// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/bulk_maps.hpp"

namespace fusekit::hip {

/// Groups of channels of a tensor that is loaded or stored in tiles of image rows (copy/halo_groups.hpp).
struct HaloGroups {
    static constexpr int packet = 8;  ///< channels of 16 bytes, of 16-bit elements

    int count = 1;
};

namespace detail {

/// Encodes a tensor map in boxes of `rows` image rows x `columns` columns x 64 channels. With several groups, whose
/// channels are whole packets, the map has groups as its last mode; otherwise that mode has extent 1.
template <class T>
FUSEKIT_H constexpr bool encode_image_rows(TensorMap& map, TensorView<T> const& view, int columns, int rows,
                                           HaloGroups groups) {
    MapModes<T> const modes(view);
    std::uint32_t const box[] = {channels_of_row<T>, static_cast<std::uint32_t>(columns),
                                 static_cast<std::uint32_t>(rows), 1, 1};
    if (groups.count == 1) return encode_tiled(map, sizeof(T), 4, view.data, modes.extents, modes.strides, box);
    std::uint64_t const channels = modes.extents[0] / static_cast<std::uint64_t>(groups.count);
    bool const is_mode = channels % HaloGroups::packet == 0;
    std::uint64_t const extents[] = {is_mode ? channels : modes.extents[0], modes.extents[1], modes.extents[2],
                                     modes.extents[3], is_mode ? static_cast<std::uint64_t>(groups.count) : 1},
                        strides[] = {modes.strides[0], modes.strides[1], modes.strides[2],
                                     is_mode ? channels * sizeof(T) : 16};
    return encode_tiled(map, sizeof(T), 5, view.data, extents, strides, box);
}

}  // namespace detail

/// Encodes a tensor map of y, or of a tensor of y's shape, in boxes of box.rows image rows x box.pitch columns.
template <class U, class Box>
FUSEKIT_H constexpr bool encode_rows_of_y(TensorMap& map, TensorView<U> const& y, Box const& box,
                                          HaloGroups groups = {}) {
    return detail::encode_image_rows(map, y, box.pitch, box.rows, groups);
}

/// Encodes a tensor map of x in boxes of the image rows, halo included, that the windows of a tile of y read.
template <class T, class HaloShape>
FUSEKIT_H constexpr bool encode_rows_of_x(TensorMap& map, TensorView<T> const& x, HaloShape const& shape,
                                          HaloGroups groups = {}) {
    return detail::encode_image_rows(map, x, shape.pitch, shape.rows_of_x(), groups);
}

/// Encodes the tensor maps of x, of y and of w for tiles of image rows. A box of w has `filters` filters or, if
/// `transposed`, channels of x; if 0, the map of w is not encoded. If all filters of at most 64 channels stay in SMEM,
/// a box has no rows past the last filter: they cost time, 1 to 4 microseconds in all on an H200.
template <bool transposed, class T, class W, class U, class HaloShape>
[[gnu::cold]] FUSEKIT_H bool encode_rows(BulkMaps& maps, TensorView<T> const& x, TensorView<W> const& w,
                                         TensorView<U> const& y, HaloShape const& shape, int filters,
                                         HaloGroups groups = {}) {
    bool const ends = !transposed && !pairs_filters<U> && groups.count == 1 && w.layout.shape[1] <= 64;
    auto const rows = static_cast<std::uint32_t>(ends && w.layout.shape[0] < filters ? w.layout.shape[0] : filters);
    maps.in_use = encode_rows_of_x(maps.x, x, shape, groups) &&
                  (filters == 0 || (transposed ? detail::encode_transposed_filters(maps, w, rows)
                                               : detail::encode_filters(maps.w, w, detail::channels_of_row<T>, rows,
                                                                        pairs_filters<U>))) &&
                  encode_rows_of_y(maps.y, y, shape.box_of_y(), groups);
    return maps.in_use;
}

}  // namespace fusekit::hip
