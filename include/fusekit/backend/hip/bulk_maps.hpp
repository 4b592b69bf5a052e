// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/bulk_row.hpp"
#include "fusekit/backend/hip/arch/tensor_map.hpp"
#include "fusekit/backend/hip/multicast.hpp"
#include "fusekit/backend/hip/tma_limits.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/transform.hpp"

namespace fusekit::hip {

/// True if TMA loads of w reorder each 16 consecutive filters: the even ones first, then the odd ones. For results of 8
/// bits: two adjacent accumulator columns of a thread are then adjacent channels of y, which it stores as a pair.
template <class U>
inline constexpr bool pairs_filters = sizeof(U) == 1;

/// Returns the multiple of 16 bytes at or before an address, at which a tensor map begins; 16 for an address below,
/// which prepare() has in place of those that runs pass.
FUSEKIT_H inline void const* aligned_before(void const* memory) {
    auto const address = reinterpret_cast<std::uintptr_t>(memory) & ~std::uintptr_t{15};
    return reinterpret_cast<void const*>(address > 0 ? address : 16);
}

/// Tensor maps of a convolution's operands and result, kernel arguments for TMA. All tensors have channel stride 1
/// (channels-last). Modes are listed fastest first.
struct BulkMaps {
    /// (C, W, H, N) for im2col mode or as rows; (C, N H W) for 1x1 filters if one stride leads from each pixel to the
    /// next
    TensorMap x;
    /// (C, S, R, K); for a transposed convolution (K, S, R, C) with the taps in reverse order; for 8-bit results (C, S
    /// R, 8, 2, K / 16), which loads the even ones of 16 filters, then the odd ones.
    TensorMap w;
    /// w in boxes of `last_filters` filters, for the last column of tiles, if last_filters > 0; for a transposed
    /// convolution with has_rows_of_taps, w for the last channels of x
    TensorMap w_last;
    TensorMap y;  ///< (K, N P Q), or (K, Q, P, N) for tiles of image rows
    bool in_use = false, has_windows = false;
    /// number of filters of the last column of tiles if it is narrower than the other columns; else 0
    int last_filters = 0;
    bool stores_y = true;  ///< false if threads store y, because its pixels are misaligned for TMA
    /// alignment in bytes (8, 4 or 2) of the rows of x and w, if threads load both because one is misaligned for TMA; 0
    /// if TMA loads them
    int copied_bytes = 0;
    /// weights that HaloGemm's threads copy at once, of several groups: 8, 2 or 1; 0 if TMA loads them
    int filter_vector = 0;
    /// true if w's map has all taps of a filter as one mode, because k-tiles of a group may read past a tap's last
    /// channel, or tiles of a transposed convolution past y's last channel
    bool has_rows_of_taps = false;
    bool packs_taps = false;  ///< true if threads load x, and k-tiles have the channels of several taps
    int rows_of_x = 0;  ///< rows of a k-tile that TMA loads from x
    Multicast multicast = Multicast::none;

    /// True if w_last's boxes load the filters of a tile from filter `first` of `filters` on.
    FUSEKIT_HD bool in_last_column(int first, int filters) const {
        return last_filters > 0 && filters - first == last_filters;
    }
    /// True if threads, not TMA, load x.
    FUSEKIT_HD bool copies_x() const { return copied_bytes > 0 || packs_taps; }

    FUSEKIT_H void replace_memory(void const* of_x, void const* of_y) {
        if (!copies_x()) hip::replace_memory(x, aligned_before(of_x));
        hip::replace_memory(y, of_y);
    }
};

/// Kernel argument: tensor map of a tensor of y's shape that an operator of the epilogue reads, with boxes of a whole
/// tile.
struct ReadMap {
    TensorMap map;
};

namespace detail {

/// Extents in elements, and strides in bytes, of a view that meets unmet_by_tma(), in a tensor map's order (fastest
/// first): channels, columns, rows, images or filters.
template <class T>
struct MapModes {
    std::uint64_t extents[4], strides[3];

    FUSEKIT_H explicit MapModes(TensorView<T> const& view) {
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

/// Number of channels in one swizzled SMEM row of a TMA box, for tiles of 64 channels.
template <class T>
inline constexpr std::uint32_t channels_of_row = bulk_row_bytes(64, sizeof(T)) / sizeof(T);

// The functions below encode tensor maps of tensors that meet the conditions above. They return false if the driver
// fails.

/// Encodes a tensor map of a tensor's pixels as matrix rows, in boxes of `rows` x `channels_of_box`; with several
/// groups of channels, as a matrix of each group. Precondition: unmet_by_pixels() finds nothing.
template <class T>
[[gnu::cold]] FUSEKIT_H bool encode_pixels(TensorMap& map, TensorView<T> const& view, std::uint32_t channels_of_box,
                                           std::uint32_t rows, int groups = 1) {
    Layout<4> const& layout = view.layout;
    Extent const bytes = pixel_stride(layout) * static_cast<Extent>(sizeof(T));
    std::uint64_t const extents[] = {static_cast<std::uint64_t>(layout.shape[1]),
                                     static_cast<std::uint64_t>(layout.shape[0] * layout.shape[2] * layout.shape[3])};
    std::uint64_t const strides[] = {static_cast<std::uint64_t>(bytes)};
    std::uint32_t const box[] = {channels_of_box, rows, 1};
    if (groups > 1) {
        std::uint64_t const of_group = extents[0] / static_cast<std::uint64_t>(groups),
                            of_groups[] = {of_group, extents[1], static_cast<std::uint64_t>(groups)},
                            to_next[] = {strides[0], of_group * sizeof(T)};
        return encode_tiled(map, sizeof(T), 3, view.data, of_groups, to_next, box);
    }
    return encode_tiled(map, sizeof(T), 2, view.data, extents, strides, box);
}

/// Encodes an im2col tensor map of a convolution's windows, in boxes of `pixels` windows, one tap and `channels_of_box`
/// channels. With several groups of channels the map is (C / G, W, H, N, G), so that TMA zero-fills channels past a
/// group's last one; or (C, W, H, N, 1) if the channels of a group are whole k-blocks, whose MMAs read no others: TMA
/// is slower where a row of a box is partly out of bounds. Precondition: unmet_by_tma() and unmet_by_im2col() find
/// nothing.
template <class T>
[[gnu::cold]] FUSEKIT_H bool encode_windows(TensorMap& map, TensorView<T> const& x, Filter<2> const& filter,
                                            std::uint32_t channels_of_box, std::uint32_t pixels, int groups = 1) {
    MapModes<T> const modes(x);
    int lower[3] = {}, upper[3] = {};
    std::uint32_t steps[5] = {1, 1, 1, 1, 1};
    for (int i = 0; i < 2; ++i) {
        int const mode = 1 - i;
        std::int64_t const reach = (std::int64_t{filter.size[mode]} - 1) * filter.dilations[mode];
        lower[i] = -filter.pad_before[mode];
        upper[i] = filter.pad_after[mode] - static_cast<int>(reach);
        steps[1 + i] = static_cast<std::uint32_t>(filter.strides[mode]);
    }
    if (groups > 1) {
        std::uint64_t const of_group = modes.extents[0] / static_cast<std::uint64_t>(groups),
                            last = of_group % whole_block == 0 ? 1 : static_cast<std::uint64_t>(groups),
                            extents[] = {modes.extents[0] / last, modes.extents[1], modes.extents[2], modes.extents[3],
                                         last},
                            strides[] = {modes.strides[0], modes.strides[1], modes.strides[2],
                                         last == 1 ? 16 : of_group * sizeof(T)};
        return encode_im2col(map, sizeof(T), x.data, extents, strides, lower, upper, channels_of_box, pixels, steps, 5);
    }
    return encode_im2col(map, sizeof(T), x.data, modes.extents, modes.strides, lower, upper, channels_of_box, pixels,
                         steps);
}

/// Encodes a tensor map of filters, in boxes of `count` filters, one tap and `channels_of_box` channels. With
/// `in_pairs` a box has the even filters of each 16, then the odd ones. Precondition: unmet_by_tma() and, with
/// `in_pairs`, unmet_by_pairs() find nothing.
template <class W>
[[gnu::cold]] FUSEKIT_H bool encode_filters(TensorMap& map, TensorView<W> const& w, std::uint32_t channels_of_box,
                                            std::uint32_t count, bool in_pairs) {
    MapModes<W> const modes(w);
    if (!in_pairs) {
        std::uint32_t const box[] = {channels_of_box, 1, 1, count};
        return encode_tiled(map, sizeof(W), 4, w.data, modes.extents, modes.strides, box);
    }
    std::uint64_t const columns = modes.extents[1], rows = modes.extents[2], filters = modes.extents[3],
                        tap = columns > 1 ? modes.strides[0] : modes.strides[1], filter = modes.strides[2];
    std::uint64_t const extents[] = {modes.extents[0], columns * rows, 8, 2, filters / 16},
                        strides[] = {tap, 2 * filter, filter, 16 * filter};
    std::uint32_t const box[] = {channels_of_box, 1, 8, 2, count / 16};
    return encode_tiled(map, sizeof(W), 5, w.data, extents, strides, box);
}

/// True if the taps of filters are contiguous.
FUSEKIT_H inline bool has_contiguous_taps(Layout<4> const& w) {
    return w.stride[1] == 1 && (w.shape[3] == 1 || w.stride[3] == w.shape[1]) &&
           (w.shape[2] == 1 || w.stride[2] == w.shape[3] * w.shape[1]);
}

/// Returns a layout of filters whose taps are contiguous with all taps in the mode of channels.
FUSEKIT_H inline Layout<4> packed_taps(Layout<4> of_w) {
    of_w.shape[1] *= of_w.shape[2] * of_w.shape[3];
    of_w.shape[2] = of_w.shape[3] = 1;
    return of_w;
}

/// Encodes the tensor maps of a transposed convolution's filters, in boxes of 64 channels of y, one tap and `rows`
/// channels of x. TMA takes up to 24 cycles per row of a box that is partly out of bounds, so if taps are contiguous
/// and K is no multiple of 64, boxes read past a tap: the next taps and, except in the last `rows` channels of x, the
/// filters of the next channel. These are rows of the MMAs past y's last channel, which are not stored.
template <class Maps, class W>
[[gnu::cold]] FUSEKIT_H bool encode_transposed_filters(Maps& maps, TensorView<W> stored, std::uint32_t rows) {
    constexpr Extent box = channels_of_row<W>;
    Extent const channels = stored.layout.shape[1], past = (box - channels % box) % box;
    auto const encode = [&](TensorMap& map) {
        return encode_filters(map, stored, static_cast<std::uint32_t>(box), rows, false);
    };
    maps.has_rows_of_taps = reads_past_taps(channels, stored.layout.shape[2] * stored.layout.shape[3]) &&
                            stored.layout.shape[0] % 8 == 0 && has_contiguous_taps(stored.layout);
    if (!maps.has_rows_of_taps) return encode(maps.w);
    stored.layout = packed_taps(stored.layout);
    if (!encode(maps.w_last)) return false;
    stored.layout.shape[1] += past;
    return encode(maps.w);
}

}  // namespace detail

/// Encodes the tensor maps for tiles of tile_m pixels x tile_n channels, those of the operands that TMA loads and that
/// of y if maps.stores_y; its boxes have 64 channels, in SMEM rows of bulk_row_bytes(). Boxes of w end with the last
/// filter, because out-of-bounds rows cost time too: on an H200 the first row past the last filter takes 14 cycles, and
/// each later one 2.
template <class T, class W, class U>
[[gnu::cold]] FUSEKIT_H bool encode(BulkMaps& maps, TensorView<T> const& x, TensorView<W> const& w,
                                    TensorView<U> const& y, Filter<2> const& filter, int tile_n, bool is_transposed,
                                    int loaded_pixels, int stored_pixels, int groups = 1) {
    auto const of_row = [&](std::size_t element_bytes) {
        int const bytes = static_cast<int>(element_bytes);
        return static_cast<std::uint32_t>(bulk_row_bytes(tile_n, bytes) / bytes);
    };
    std::uint32_t const channels = of_row(sizeof(T));
    auto pixels = static_cast<std::uint32_t>(loaded_pixels);
    maps.rows_of_x = loaded_pixels;
    if (maps.multicast == Multicast::x) pixels /= 2;
    bool const single =
        groups == 1 && detail::is_single_pixels(filter) && !detail::unmet_by_pixels(x.layout, x.data, sizeof(T));
    maps.has_windows = !maps.copies_x() && !(single && detail::encode_pixels(maps.x, x, channels, pixels));
    auto stored = is_transposed ? transposed(w, 0, 1) : w;
    maps.has_rows_of_taps =
        groups > 1 && w.layout.shape[1] % detail::whole_block == 0 && detail::has_contiguous_taps(w.layout);
    if (maps.packs_taps || maps.has_rows_of_taps) stored.layout = detail::packed_taps(w.layout);
    Extent const of_group = w.layout.shape[0] / groups;
    auto filters = static_cast<std::uint32_t>(of_group < tile_n ? of_group : tile_n);
    if (maps.multicast == Multicast::w) filters /= 2;
    std::int64_t const last =
        is_transposed || pairs_filters<U> || maps.copied_bytes > 0 || groups > 1 ? 0 : w.layout.shape[0] % tile_n;
    maps.last_filters = w.layout.shape[0] > tile_n ? static_cast<int>(last) : 0;
    maps.in_use =
        (!maps.has_windows || detail::encode_windows(maps.x, x, filter, channels, pixels, groups)) &&
        (maps.copied_bytes > 0 ||
         (is_transposed ? detail::encode_transposed_filters(maps, stored, channels)
                        : detail::encode_filters(maps.w, stored, channels, filters, pairs_filters<U>))) &&
        (maps.last_filters == 0 ||
         detail::encode_filters(maps.w_last, stored, channels, static_cast<std::uint32_t>(maps.last_filters), false)) &&
        (!maps.stores_y || detail::encode_pixels(maps.y, y, 64, static_cast<std::uint32_t>(stored_pixels), groups));
    return maps.in_use;
}

}  // namespace fusekit::hip
