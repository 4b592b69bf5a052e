// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/layout.hpp"

namespace fusekit::hip {

/// Tiles of StripHalo, and their SMEM. A tile of y has 32 rows x 8 columns and 128 channels or, if `splits_pixels`, 32
/// rows x 16 columns and 64 channels. If `phases` is 4, for a TransposedConv of 4x4 taps, stride 2 and padding 1, tiles
/// are of the pixels of y of one phase, as many as x has; each phase has 2 x 2 of the 3 x 3 pixels of x of its windows.
/// The rows of all images are numbered consecutively (StripRow,
/// copy/strip_halo.hpp); tiles of the same pixels, and then of the same rows, are adjacent. The tile of x, halo
/// included, has rows_of_x() rows of pitch() pixels of 64 channels. SMEM has two tiles of x, and then stages() stages
/// of the filters of one tap.
struct HaloStripShape {
    static constexpr int rows = 32, columns = 8, pixels = rows * columns, channels = 64, row_bytes = 128;
    static constexpr int max_stages = 6, operand_bytes = 193 * 1024;
    /// operand_bytes of a plan with a prologue or statistics, whose parameters and totals are in SMEM, too
    static constexpr int shared_operand_bytes = 185 * 1024;

    bool splits_pixels = false;  ///< true if the two warpgroups have different pixels, not different channels of y
    int window_rows = 1, window_columns = 1;
    int bytes = operand_bytes;  ///< SMEM of the operands
    int phases = 1;

    /// Shape of the tiles of a convolution to `of_y` channels: 64 or 128 channels each, by which of them y's channels
    /// fill. `shares`: true for a plan with a prologue or statistics.
    FUSEKIT_HD static constexpr HaloStripShape of(Filter<2> const& filter, std::int64_t of_y, bool shares = false,
                                                  bool doubles = false) {
        bool const is_odd = (of_y + channels - 1) / channels % 2 == 1;
        HaloStripShape narrow{true, filter.size[0], filter.size[1], shares ? shared_operand_bytes : operand_bytes};
        if (doubles) narrow.window_rows = narrow.window_columns = 3, narrow.phases = 4;
        HaloStripShape wide = narrow;
        wide.splits_pixels = false;
        return is_odd && narrow.fits() ? narrow : wide;
    }
    /// True for the filter of a TransposedConv that doubles an image.
    FUSEKIT_HD static constexpr bool is_doubling(Filter<2> const& filter) {
        bool doubles = filter.group_count == 1;
        for (int mode = 0; mode < 2; ++mode)
            doubles = doubles && filter.size[mode] == 4 && filter.strides[mode] == 2 && filter.dilations[mode] == 1 &&
                      filter.pad_before[mode] == 1 && filter.pad_after[mode] == 1;
        return doubles;
    }

    FUSEKIT_HD constexpr int tile_columns() const { return splits_pixels ? 2 * columns : columns; }
    FUSEKIT_HD constexpr int tile_filters() const { return splits_pixels ? 64 : 128; }
    /// Columns of the taps, and number of taps, of one phase.
    FUSEKIT_HD constexpr int tap_columns() const { return phases > 1 ? window_columns - 1 : window_columns; }
    FUSEKIT_HD constexpr int taps() const {
        return phases > 1 ? (window_rows - 1) * tap_columns() : window_rows * window_columns;
    }
    FUSEKIT_HD constexpr int pitch() const { return tile_columns() + window_columns - 1; }
    FUSEKIT_HD constexpr int rows_of_x() const { return rows + window_rows - 1; }
    FUSEKIT_HD constexpr int bytes_of_x() const { return rows_of_x() * pitch() * row_bytes; }
    FUSEKIT_HD constexpr int filter_bytes() const { return tile_filters() * row_bytes; }
    /// Offset in bytes, in the SMEM of the operands, of the filters.
    FUSEKIT_HD constexpr int filters_at() const { return (2 * bytes_of_x() + 1023) / 1024 * 1024; }
    FUSEKIT_HD constexpr int stages() const {
        int const fit = (bytes - filters_at()) / filter_bytes();
        return fit < max_stages ? fit : max_stages;
    }
    /// Number of k-tiles by which the second warpgroup's MMAs are behind those of the first. The first one uses as many
    /// stages, and 2 tiles of x, before the second one releases any.
    FUSEKIT_HD constexpr unsigned lag() const { return static_cast<unsigned>(stages() - 3); }
    /// Number of warpgroups, among those that compute the same channels of y, that have pixels of their own.
    FUSEKIT_HD constexpr unsigned pixel_groups() const { return splits_pixels ? 2 : 1; }
    FUSEKIT_HD constexpr bool fits() const {
        return pitch() <= 256 && rows_of_x() <= 256 && stages() >= 4 && 2 * taps() >= stages();
    }
    /// Tiles per row of tiles; tiles of the same pixels; rows of tiles of all images.
    FUSEKIT_HD constexpr std::int64_t tiles_of_row(std::int64_t width) const {
        return (width + tile_columns() - 1) / tile_columns();
    }
    FUSEKIT_HD constexpr std::int64_t channel_tiles(std::int64_t of_y) const {
        return (of_y + tile_filters() - 1) / tile_filters();
    }
    FUSEKIT_HD constexpr std::int64_t tile_rows(std::int64_t images, std::int64_t height) const {
        return (images * (height + window_rows - 1) - window_rows + rows) / rows;
    }
    /// Tiles of all phases. `y`: extents of y, or of one phase of it.
    FUSEKIT_HD constexpr std::int64_t tiles(Index<4> const& y) const {
        return tile_rows(y[0], y[2]) * tiles_of_row(y[3]) * channel_tiles(y[1]) * phases;
    }
};

/// Kernel argument of StripHaloGemm.
struct HaloStrips {
    HaloStripShape shape = {};
    int pitch = 1, rows_of_x = 1, taps = 1, stages = 1;
    int height = 0, width = 0;  ///< rows and columns of an image of y, of one phase
    int top = 0, left = 0;  ///< padding of x before the windows of a phase
    int blocks = 1;  ///< tiles of x per tile of y, for 64 channels of x each
    unsigned tiles = 0;
    FastDivmod channel_tiles = {}, rows_of_image = {}, of_row = {};  ///< tiles of the same pixels; rows; tiles per row

    FUSEKIT_H constexpr void set(HaloStripShape const& the_shape, std::int64_t of_x, Index<4> y,
                                 Filter<2> const& filter) {
        shape = the_shape;
        top = shape.phases > 1 ? 1 : filter.pad_before[0], left = shape.phases > 1 ? 1 : filter.pad_before[1];
        if (shape.phases > 1) y[2] /= 2, y[3] /= 2;
        pitch = shape.pitch(), rows_of_x = shape.rows_of_x(), taps = shape.taps(), stages = shape.stages();
        height = static_cast<int>(y[2]), width = static_cast<int>(y[3]);
        blocks = divide_up_32(static_cast<int>(of_x), HaloStripShape::channels);
        tiles = static_cast<unsigned>(shape.tiles(y));
        channel_tiles = FastDivmod(static_cast<unsigned>(shape.channel_tiles(y[1])));
        rows_of_image = FastDivmod(static_cast<unsigned>(height + shape.window_rows - 1));
        of_row = FastDivmod(static_cast<unsigned>(shape.tiles_of_row(y[3])));
    }
};

}  // namespace fusekit::hip
