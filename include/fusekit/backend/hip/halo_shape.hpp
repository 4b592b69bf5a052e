// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/layout.hpp"

namespace fusekit::hip {

/// Extents of a TMA box of y: `rows` rows of `pitch` pixels.
struct HaloBox {
    int pitch, rows;
};

/// SMEM layout of a tile: rows of y, all columns or `columns` of them, and the pixels of x that their windows read. The
/// tile has at most `Pixels` pixels of y. A row has `pitch` pixels: its columns of y plus S - 1. Pixel (p, q) of the
/// tile of y has index p pitch + q; its tap (r, s) reads the pixel of the tile of x whose index is larger by
/// r pitch + s, so that the operand of a tap is the tile of x at an offset. Accumulators with q past the end of a row
/// are not stored. A tile of a plan that pools has an even number of rows and columns, and of pixels from a row to the
/// next, because S is odd. A pixel of x has RowBytes bytes: 64 channels, zeros past x's last channel. A pixel of y has
/// ResultBytes bytes.
template <int Pixels, int RowBytes = 128, int ResultBytes = RowBytes>
struct HaloShape {
    static constexpr int row_bytes = RowBytes;

    int columns, pitch, rows, window_rows, window_columns;
    bool splits_rows;  ///< true if a row of y has several tiles, which store only their own columns

    /// Tile of `the_columns` columns, by default all, of a y of height x width pixels.
    FUSEKIT_HD constexpr HaloShape(int height, int width, Filter<2> const& filter, int the_columns, bool pools = false)
        : columns(pools ? divide_up_32(the_columns, 2) * 2 : the_columns),
          pitch(columns + filter.size[1] - 1),
          rows(Pixels / pitch < height ? Pixels / pitch : height),
          window_rows(filter.size[0]),
          window_columns(filter.size[1]),
          splits_rows(columns < width) {
        if (pools) rows = rows > 2 ? rows / 2 * 2 : 2;
    }
    FUSEKIT_HD constexpr HaloShape(int height, int width, Filter<2> const& filter)
        : HaloShape(height, width, filter, width) {}

    /// Returns the shape with the fewest tiles per image, among 8 numbers of tiles per row, from the least on; of equal
    /// ones, the one with whole rows, which are stored at once, or else the one that loads the least of x. Only shapes
    /// with two stages in `bytes` bytes of SMEM are considered, unless there is none.
    FUSEKIT_H static constexpr HaloShape fewest_tiles(int height, int width, Filter<2> const& filter, int bytes,
                                                      bool pools = false) {
        constexpr int numbers = 8;
        int const at_least = divide_up_32(width, Pixels / (pools ? 2 : 1) - filter.size[1] + 1);
        HaloShape best(height, width, filter, divide_up_32(width, at_least), pools);
        int fewest = 0;  // tiles of `best`; 0 if it is unsuitable
        for (int of_row = at_least; of_row < at_least + numbers; ++of_row) {
            HaloShape const shape(height, width, filter, divide_up_32(width, of_row), pools);
            int const tiles = shape.tiles_of_image(height, width);
            if (2 * shape.stage_bytes() > bytes || !shape.is_storable()) continue;
            bool const loads_less = best.splits_rows && shape.bytes_of_x() < best.bytes_of_x();
            if (fewest > 0 && (tiles > fewest || (tiles == fewest && !loads_less))) continue;
            best = shape, fewest = tiles;
        }
        return best;
    }

    /// Returns the shape of a convolution's tiles with `bytes` bytes of SMEM for stages: whole rows, if two stages fit
    /// and the image does not have fewer tiles otherwise or `keeps_rows` is true; else fewest_tiles().
    FUSEKIT_H static constexpr HaloShape of(int height, int width, Filter<2> const& filter, int bytes,
                                            bool keeps_rows) {
        HaloShape const whole(height, width, filter);
        if (keeps_rows && whole.pitch <= Pixels && 2 * whole.stage_bytes() <= bytes) return whole;
        return fewest_tiles(height, width, filter, bytes);
    }

    FUSEKIT_HD constexpr int tiles_of_row(int width) const { return divide_up_32(width, columns); }
    FUSEKIT_HD constexpr int tiles_of_image(int height, int width) const {
        return tiles_of_row(width) * divide_up_32(height, rows);
    }
    /// Box of y of one TMA store: the whole tile, whose gaps between rows are out of bounds of y, or one row of it.
    FUSEKIT_HD constexpr HaloBox box_of_y() const { return splits_rows ? HaloBox{columns, 1} : HaloBox{pitch, rows}; }
    /// SMEM bytes from one box of the tile of y to the next, which TMA requires to be a multiple of 128; 0 if there is
    /// one box.
    FUSEKIT_HD constexpr int box_step() const { return splits_rows ? pitch * ResultBytes : 0; }
    FUSEKIT_HD constexpr bool is_storable() const { return box_step() % 128 == 0; }
    FUSEKIT_HD constexpr int rows_of_x() const { return rows + window_rows - 1; }
    FUSEKIT_HD constexpr int bytes_of_y() const { return rows * pitch * ResultBytes; }
    FUSEKIT_HD constexpr int bytes_of_x() const { return rows_of_x() * pitch * row_bytes; }
    /// Size in bytes of one SMEM stage, which first has the tile of x and then, in its place, the tile of y. Includes
    /// the pixels past the tile of x that the last tap's MMAs read: each tap reads `Pixels` pixels from its offset on.
    FUSEKIT_HD constexpr int stage_bytes() const {
        int most = ((window_rows - 1) * pitch + window_columns - 1 + Pixels) * row_bytes;
        for (int const bytes : {bytes_of_x(), Pixels * ResultBytes}) most = bytes > most ? bytes : most;
        return (most + 1023) / 1024 * 1024;
    }
    /// Number of stages that fit `bytes` bytes of SMEM, but at most `most`.
    FUSEKIT_HD constexpr int stages(int bytes, int most) const {
        int const held = bytes / stage_bytes();
        return held < most ? held : most;
    }
};

/// Kernel argument of TiledHaloGemm: the shape of its tiles, and their enumeration. A tile is `rows` rows x `columns`
/// columns of one image of y and 64 channels; tiles of the same pixels, and then of the same rows, are adjacent. A CTA
/// has tiles of the same channels, because gridDim.x is a multiple of `channel_tiles`. The tiles of x that they read,
/// halo included, are loaded through a ring of `stages` SMEM stages, 64 channels of x per stage.
struct TiledHalo {
    static constexpr int channels = 64;

    int columns = 1, pitch = 1, rows = 1, window_columns = 1, taps = 1;
    int box_step = 0;  ///< HaloShape::box_step(); 0 if a tile has whole rows
    int bytes_of_x = 0, stage_bytes = 0, stages = 1;
    int blocks = 1;  ///< stages per tile, for 64 channels of x each
    unsigned all = 0;  ///< number of tiles
    FastDivmod channel_tiles = {}, of_image = {}, of_row = {};  ///< tiles of the same pixels; tiles per image, per row

    FUSEKIT_H constexpr TiledHalo() = default;
    /// Tiles of a convolution of `of_x` channels to y. The ring has at most `most` stages in `bytes` bytes of SMEM.
    template <class Shape>
    FUSEKIT_H constexpr TiledHalo(Shape const& shape, std::int64_t of_x, Index<4> const& y, int bytes, int most)
        : columns(shape.columns),
          pitch(shape.pitch),
          rows(shape.rows),
          window_columns(shape.window_columns),
          taps(shape.window_rows * shape.window_columns),
          box_step(shape.box_step()),
          bytes_of_x(shape.bytes_of_x()),
          stage_bytes(shape.stage_bytes()),
          stages(shape.stages(bytes, most)),
          blocks(divide_up_32(static_cast<int>(of_x), channels)) {
        auto const height = static_cast<int>(y[2]), width = static_cast<int>(y[3]);
        auto const in_image = static_cast<unsigned>(shape.tiles_of_image(height, width)),
                   of_channels = static_cast<unsigned>(divide_up_32(static_cast<int>(y[1]), channels));
        channel_tiles = FastDivmod(of_channels), of_image = FastDivmod(in_image);
        of_row = FastDivmod(static_cast<unsigned>(shape.tiles_of_row(width)));
        all = static_cast<unsigned>(y[0]) * in_image * of_channels;
    }

    FUSEKIT_HD constexpr bool splits_rows() const { return box_step > 0; }
    /// True if the filters of all channels do not fit SMEM, so that each stage's are loaded with it.
    FUSEKIT_HD constexpr bool streams_filters() const { return blocks > 1; }
    /// First channel of y of the tiles of CTA number `block`.
    FUSEKIT_HD constexpr int first_channel(unsigned block) const {
        return static_cast<int>(channel_tiles.remainder(block)) * channels;
    }
};

}  // namespace fusekit::hip
