// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/layout.hpp"

namespace fusekit::hip {

/// Tiling of a convolution of few input channels (a network's stem) whose pixels are contiguous in a row. A tile has 64
/// pixels of y. One row of a window is S C contiguous elements of x, read from SMEM as 32-bit words of two elements, in
/// chunks of 8 elements; the last chunk is padded with zeros. If all windows of a tile start at odd elements in a row
/// of x, one zero precedes the first chunk. If some start at odd and others at even elements, a word would have
/// elements of two windows, and elements are read one by one.
struct StemShape {
    /// pixels of a tile of y; elements of a chunk; largest number of chunks per row of a window; largest number of
    /// elements per row of a TMA box; largest numbers of panels and of SMEM stages
    static constexpr int pixels = 64, chunk = 8, max_chunks = 4, max_elements = 256, max_panels = 8, max_stages = 4;

    int shift = 0;  ///< log2 of the tile's columns of y
    int rows_of_x = 0, box = 0, pitch = 0;  ///< rows of x that a tile reads; elements per row loaded, and in SMEM
    /// distance in elements of x from a window to the next in a row; elements of left padding
    int step = 0, lead_in = 0;
    int row_elements = 0;  ///< elements of a row of a window, S C
    /// chunks per row of a window; panels of the filters, each with the GemmK indices of two rows of a window for 64
    /// filters
    int chunks = 0, panels = 0;
    bool whole_words = true;
    /// true if TMA loads each row of x by itself, because rows are misaligned for a box of several: the tile's elements
    /// then begin at different elements of 16 bytes in each row, and SMEM has panels for windows whose first row starts
    /// at an even element, and for an odd one
    bool by_rows = false;

    FUSEKIT_HD constexpr int columns() const { return 1 << shift; }
    FUSEKIT_HD constexpr int rows() const { return pixels >> shift; }
    /// Number of sets of panels.
    FUSEKIT_HD constexpr int sets() const { return by_rows && whole_words ? 2 : 1; }
    /// Bytes of a stage that TMA loads.
    FUSEKIT_HD constexpr int loaded_bytes() const { return rows_of_x * box * 2; }
    /// Size in bytes of one SMEM stage of x; the last chunk may end past the rows.
    FUSEKIT_HD constexpr int stage_bytes() const { return (rows_of_x * pitch * 2 + 2 * chunk + 127) / 128 * 128; }
    /// Number of stages in `bytes` bytes of SMEM.
    FUSEKIT_HD constexpr int stages(int bytes) const {
        int const held = bytes / stage_bytes();
        return held < max_stages ? held : max_stages;
    }
    FUSEKIT_H constexpr std::int64_t tiles(Index<4> const& y) const {
        return y[0] * detail::divide_up(y[2], rows()) * detail::divide_up(y[3], columns());
    }

    /// Returns the shape whose tiles of y take the shortest time, and of equal ones the widest, whose stage fits
    /// `bytes` bytes; `panels` is 0 if no stage fits. `row_step`: elements of x from one row to the next.
    FUSEKIT_H static constexpr StemShape of(Index<4> const& y, std::int64_t channels, Filter<2> const& filter,
                                            int bytes, bool aligned_rows = true, std::int64_t row_step = 0) {
        StemShape best;
        bool few = channels <= max_elements;  // keeps the products below within int
        for (int mode = 0; mode < 2; ++mode)
            few = few && filter.size[mode] <= max_elements && filter.strides[mode] <= max_elements &&
                  filter.dilations[mode] <= max_elements && filter.pad_before[mode] <= max_elements;
        if (!few) return best;
        for (int shift = 6; shift >= 0; --shift) {
            StemShape const shape(shift, static_cast<int>(channels), filter, !aligned_rows, row_step % 2 == 0);
            if (shape.chunks > max_chunks || shape.box > max_elements || shape.rows_of_x > max_elements ||
                shape.stage_bytes() > bytes)
                continue;
            if (best.panels == 0 || shape.tiles(y) * shape.cycles() < best.tiles(y) * best.cycles()) best = shape;
        }
        return best;
    }

    FUSEKIT_H constexpr StemShape() = default;

private:
    FUSEKIT_H constexpr StemShape(int the_shift, int channels, Filter<2> const& filter, bool loads_by_rows,
                                  bool even_rows)
        : shift(the_shift),
          rows_of_x((rows() - 1) * filter.strides[0] + (filter.size[0] - 1) * filter.dilations[0] + 1),
          step(filter.strides[1] * channels),
          lead_in(filter.pad_before[1] * channels),
          row_elements(filter.size[1] * channels),
          by_rows(loads_by_rows) {
        constexpr int line = 64;  // elements of 128 bytes, to which a TMA box in SMEM is aligned
        panels = divide_up_32(filter.size[0], 2);
        // windows of a tile start at even or at odd elements alone, and both sets of panels fit
        bool const has_sets = (even_rows || filter.strides[0] % 2 == 0 || rows() == 1) && 2 * panels <= max_panels &&
                              row_elements < max_chunks * chunk;
        whole_words = step % 2 == 0 && (!by_rows || has_sets);
        int const lead = !whole_words ? 0 : by_rows ? 1 : lead_in % 2;
        box = divide_up_32(chunk - 1 + (columns() - 1) * step + row_elements, chunk) * chunk;
        pitch = by_rows ? divide_up_32(box, line) * line : box;
        chunks = divide_up_32(lead + row_elements, chunk);
    }

    /// Cycles per tile of an SM: estimates of its instructions and of a TMA load, not measured.
    FUSEKIT_H constexpr std::int64_t cycles() const { return 600 + (by_rows ? 50 * rows_of_x : 0); }
};

/// Kernel argument of StemGemm.
struct StemTiles : StemShape {
    FastDivmod of_image = {}, of_row = {}, channel_tiles = {};  ///< tiles per image; per row; CTAs of the same tiles
    unsigned all = 0;  ///< number of tiles of pixels
    int window_stages = 2;
    /// with by_rows: elements of x in its tensor map, from the multiple of 16 bytes at or before the first element on,
    /// and from one image and one row to the next
    int elements = 0, image_step = 0, row_step = 0;

    FUSEKIT_H constexpr StemTiles() = default;
    /// Tiles of 64 `channels` each of y, with `bytes` bytes of SMEM for stages.
    FUSEKIT_H constexpr StemTiles(StemShape const& shape, Index<4> const& y, int channels, int bytes)
        : StemShape(shape),
          of_image(static_cast<unsigned>(detail::divide_up(y[2], rows()) * detail::divide_up(y[3], columns()))),
          of_row(static_cast<unsigned>(detail::divide_up(y[3], columns()))),
          channel_tiles(static_cast<unsigned>(detail::divide_up(y[1], channels))),
          all(static_cast<unsigned>(shape.tiles(y))),
          window_stages(shape.stages(bytes)) {}

    /// Zeros (0 or 1) before row r of a window in panels of set `set`. In set 1 a window's first row starts at an odd
    /// element; without by_rows the only set is that of all tiles.
    FUSEKIT_HD constexpr int lead(int r, int dilation, int set) const {
        int const first = by_rows ? set : lead_in;
        return whole_words ? (first + r * dilation * row_step) & 1 : 0;
    }
};

}  // namespace fusekit::hip
