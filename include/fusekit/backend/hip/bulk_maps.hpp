// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/bulk_row.hpp"
#include "fusekit/backend/hip/arch/tensor_map.hpp"
#include "fusekit/backend/hip/unmet.hpp"
#include "fusekit/problem/facts.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/transform.hpp"

namespace fusekit::hip {

/// Whether filters are copied in pairs, so that a thread's two channels of results of 8 bits neighbour.
template <class U>
inline constexpr bool pairs_filters = sizeof(U) == 1;

/// How bulk copies find the operands and the result of a convolution whose channels are neighbours in memory.
struct BulkMaps {
    TensorMap x;  ///< (C, W, H, N) as windows or rows, or, for single pixels without gaps, (C, N H W)
    /// (C, S, R, K), or, of a transposed convolution, (K, S, R, C) with the taps in reverse; or, where results have 8
    /// bits, (C, S R, 8, 2, K / 16): of 16 filters the even ones, then the odd ones.
    TensorMap w;
    TensorMap y;  ///< (K, N P Q), or rows of (K, Q, P, N)
    bool in_use = false, has_windows = false;

    FUSEKIT_H void replace_memory(void const* of_x, void const* of_y) {
        hip::replace_memory(x, of_x);
        hip::replace_memory(y, of_y);
    }
};

/// How bulk copies find a tensor of y's shape that an operator reads place by place, as boxes of y.
struct ReadMap {
    TensorMap map;
};

namespace detail {

/// The names of a tensor's address and strides in refusals; strides of images or filters, rows and columns.
struct NamesForTma {
    char const *address = "", *channel_stride = "", *strides[3] = {"", "", ""};
};

/// The first condition that TMA needs of a tensor's layout and that it does not meet: channel stride 1, an address at a
/// multiple of 16 bytes, and all other strides positive multiples of 16 bytes below 2^40.
FUSEKIT_H inline Unmet unmet_by_tma(Layout<4> const& layout, void const* data, std::size_t element_bytes,
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

/// Extents and strides of a view as a tensor map lists them: channels, columns, rows, images or filters.
template <class T>
struct MapModes {
    std::uint64_t extents[4], strides[3];
    bool legal;

    /// Legal if channels have stride 1 and all else lies at positive multiples of 16 bytes.
    FUSEKIT_H explicit MapModes(TensorView<T> const& view) : legal(!unmet_by_tma(view.layout, view.data, sizeof(T))) {
        constexpr int order[] = {1, 3, 2, 0};
        for (int i = 0; i < 4; ++i) {
            auto const extent = view.layout.shape[order[i]];
            auto const bytes = extent == 1 ? 16 : view.layout.stride[order[i]] * static_cast<Extent>(sizeof(T));
            extents[i] = static_cast<std::uint64_t>(extent);
            if (i == 0) continue;
            strides[i - 1] = static_cast<std::uint64_t>(bytes);
        }
    }
};

/// Elements from one pixel to the next of a row, or where it has one, of a column, or to the next image.
FUSEKIT_HD constexpr Extent step_of_pixels(Layout<4> const& layout) {
    Index<4> const &shape = layout.shape, &stride = layout.stride;
    return shape[3] > 1 ? stride[3] : shape[2] > 1 ? stride[2] : shape[0] > 1 ? stride[0] : shape[1];
}

/// The same where all pixels follow one another alike; 0 where they do not.
FUSEKIT_H constexpr Extent pixel_stride(Layout<4> const& layout) {
    Index<4> const &shape = layout.shape, &stride = layout.stride;
    Extent const columns = shape[3], rows = shape[2], images = shape[0], step = step_of_pixels(layout);
    bool const follow =
        (rows == 1 || stride[2] == columns * step) && (images == 1 || stride[0] == rows * columns * step);
    return follow ? step : 0;
}

/// Whether the channels of a pixel are whole packets of 16 bytes. A bulk copy to memory writes whole ones: on an H100
/// it wrote to the gap after channels that end within one.
template <class U>
FUSEKIT_H bool ends_with_packets(TensorView<U> const& y) {
    return y.layout.shape[1] * static_cast<Extent>(sizeof(U)) % 16 == 0;
}

/// Of a row of a box where tiles have 64 channels.
template <class T>
inline constexpr std::uint32_t channels_of_row = bulk_row_bytes(64, sizeof(T)) / sizeof(T);

/// A map of a tensor's pixels as the rows of a matrix, in boxes of `rows` of so many channels.
template <class T>
FUSEKIT_H bool encode_pixels(TensorMap& map, TensorView<T> const& view, std::uint32_t channels_of_box,
                             std::uint32_t rows) {
    Layout<4> const& layout = view.layout;
    Extent const bytes = pixel_stride(layout) * static_cast<Extent>(sizeof(T));
    if (layout.stride[1] != 1 || bytes <= 0 || bytes % 16 != 0 || !problem::aligned(view.data, 16)) return false;
    std::uint64_t const extents[] = {static_cast<std::uint64_t>(layout.shape[1]),
                                     static_cast<std::uint64_t>(layout.shape[0] * layout.shape[2] * layout.shape[3])};
    std::uint64_t const strides[] = {static_cast<std::uint64_t>(bytes)};
    std::uint32_t const box[] = {channels_of_box, rows};
    return encode_tiled(map, sizeof(T), 2, view.data, extents, strides, box);
}

/// A map of the windows of a convolution, in boxes of `pixels` of them, of one tap and so many channels.
template <class T>
FUSEKIT_H bool encode_windows(TensorMap& map, TensorView<T> const& x, Filter<2> const& filter,
                              std::uint32_t channels_of_box, std::uint32_t pixels) {
    MapModes<T> const modes(x);
    int lower[2], upper[2];
    std::uint32_t steps[4] = {1, 1, 1, 1};
    bool legal = modes.legal;
    for (int i = 0; i < 2; ++i) {
        int const mode = 1 - i;
        std::int64_t const reach = (std::int64_t{filter.size[mode]} - 1) * filter.dilations[mode];
        legal = legal && reach <= 255 && filter.pad_before[mode] <= 128 && filter.pad_after[mode] <= 127 &&
                reach - filter.pad_after[mode] <= 128 && filter.strides[mode] <= 8;
        lower[i] = -filter.pad_before[mode];
        upper[i] = filter.pad_after[mode] - static_cast<int>(reach);
        steps[1 + i] = static_cast<std::uint32_t>(filter.strides[mode]);
    }
    return legal && encode_im2col(map, sizeof(T), x.data, modes.extents, modes.strides, lower, upper, channels_of_box,
                                  pixels, steps);
}

/// A map of filters, in boxes of `count` of them, of one tap and so many channels. Where they are `in_pairs`, of each
/// 16 the even ones come first, then the odd ones; then there are whole 16, and taps follow one another.
template <class W>
FUSEKIT_H bool encode_filters(TensorMap& map, TensorView<W> const& w, std::uint32_t channels_of_box,
                              std::uint32_t count, bool in_pairs) {
    MapModes<W> const modes(w);
    if (!modes.legal) return false;
    if (!in_pairs) {
        std::uint32_t const box[] = {channels_of_box, 1, 1, count};
        return encode_tiled(map, sizeof(W), 4, w.data, modes.extents, modes.strides, box);
    }
    std::uint64_t const columns = modes.extents[1], rows = modes.extents[2], filters = modes.extents[3],
                        tap = columns > 1 ? modes.strides[0] : modes.strides[1], filter = modes.strides[2];
    if (filters % 16 != 0 || (columns > 1 && rows > 1 && modes.strides[1] != columns * tap)) return false;
    std::uint64_t const extents[] = {modes.extents[0], columns * rows, 8, 2, filters / 16},
                        strides[] = {tap, 2 * filter, filter, 16 * filter};
    std::uint32_t const box[] = {channels_of_box, 1, 8, 2, count / 16};
    return encode_tiled(map, sizeof(W), 5, w.data, extents, strides, box);
}

}  // namespace detail

/// Encodes the maps for tiles of tile_m pixels and tile_n channels, of y in boxes of 64 channels, in rows of
/// bulk_row_bytes(). Where w has fewer filters a box has those alone: on an H200 a row beyond the last one takes 14
/// cycles, and another 2. False where an operand does not lie as bulk copies need it.
template <class T, class W, class U>
FUSEKIT_H bool encode(BulkMaps& maps, TensorView<T> const& x, TensorView<W> const& w, TensorView<U> const& y,
                      Filter<2> const& filter, int tile_m, int tile_n, bool is_transposed = false) {
    auto const of_row = [&](std::size_t element_bytes) {
        int const bytes = static_cast<int>(element_bytes);
        return static_cast<std::uint32_t>(bulk_row_bytes(tile_n, bytes) / bytes);
    };
    std::uint32_t const channels = of_row(sizeof(T)), pixels = static_cast<std::uint32_t>(tile_m);
    bool const single = detail::is_single_pixels(filter);
    maps.has_windows = !(single && detail::encode_pixels(maps.x, x, channels, pixels));
    auto const stored = is_transposed ? transposed(w, 0, 1) : w;
    int const rows = is_transposed ? static_cast<int>(channels) : tile_n;
    auto const filters =
        static_cast<std::uint32_t>(!is_transposed && w.layout.shape[0] < rows ? w.layout.shape[0] : rows);
    maps.in_use = filter.group_count == 1 &&
                  (!maps.has_windows || detail::encode_windows(maps.x, x, filter, channels, pixels)) &&
                  detail::encode_filters(maps.w, stored, channels, filters, pairs_filters<U>) &&
                  detail::ends_with_packets(y) && detail::encode_pixels(maps.y, y, 64, pixels);
    return maps.in_use;
}

/// Encodes a map of the view that an operator names: encode_view(map, view) encodes one. False where there are several,
/// or it is not of y's shape and type, or does not lie as bulk copies need it.
template <class Epilogue, class U, class EncodeView>
FUSEKIT_H bool encode_read(ReadMap& read, typename Epilogue::Args const& args, TensorView<U> const& y,
                           EncodeView const& encode_view) {
    int views = 0;
    bool legal = true;
    Epilogue::views(args, [&]<class View>(View const& view) {
        if constexpr (std::is_base_of_v<AnyView<4>, View>) {
            AnyView<4> const& z = view;
            legal = ++views == 1 && z.type == data_type<U> && z.layout.shape == y.layout.shape &&
                    encode_view(read.map, detail::typed<U>(z));
        }
    });
    return legal && views == 1;
}

/// A map of y's rows, or of a tensor like it.
template <class U, class HaloShape>
FUSEKIT_H bool encode_rows_of_y(TensorMap& map, TensorView<U> const& y, HaloShape const& shape) {
    detail::MapModes<U> const modes(y);
    std::uint32_t const box[] = {detail::channels_of_row<U>, static_cast<std::uint32_t>(shape.pitch),
                                 static_cast<std::uint32_t>(shape.rows), 1};
    return modes.legal && detail::ends_with_packets(y) &&
           encode_tiled(map, sizeof(U), 4, y.data, modes.extents, modes.strides, box);
}

/// A map of the rows of x that these see.
template <class T, class HaloShape>
FUSEKIT_H bool encode_rows_of_x(TensorMap& map, TensorView<T> const& x, HaloShape const& shape) {
    detail::MapModes<T> const modes(x);
    std::uint32_t const box[] = {detail::channels_of_row<T>, static_cast<std::uint32_t>(shape.pitch),
                                 static_cast<std::uint32_t>(shape.rows_of_x()), 1};
    return modes.legal && encode_tiled(map, sizeof(T), 4, x.data, modes.extents, modes.strides, box);
}

/// The same for tiles of rows: of x with their halo, of y as long; and for `filters` filters.
template <class T, class W, class U, class HaloShape>
FUSEKIT_H bool encode_rows(BulkMaps& maps, TensorView<T> const& x, TensorView<W> const& w, TensorView<U> const& y,
                           HaloShape const& shape, int filters) {
    maps.in_use = encode_rows_of_x(maps.x, x, shape) &&
                  detail::encode_filters(maps.w, w, detail::channels_of_row<T>, static_cast<std::uint32_t>(filters),
                                         pairs_filters<U>) &&
                  encode_rows_of_y(maps.y, y, shape);
    return maps.in_use;
}

}  // namespace fusekit::hip
