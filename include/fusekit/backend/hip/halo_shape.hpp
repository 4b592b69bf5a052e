// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/tensor/filter.hpp"

namespace fusekit::hip {

/// SMEM layout of a tile: rows of y, and the rows of x that their windows read. The tile has at most `Pixels` pixels of
/// y. A row has `pitch` pixels: the width of y plus S - 1. Pixel (p, q) of the tile of y has index p pitch + q; its tap
/// (r, s) reads the pixel of the tile of x whose index is larger by r pitch + s, so that the operand of a tap is the
/// tile of x at an offset. Accumulators with q past the end of a row are not stored. A pixel of x has RowBytes bytes:
/// 64 channels, zeros past x's last channel. A pixel of y has ResultBytes bytes.
template <int Pixels, int RowBytes = 128, int ResultBytes = RowBytes>
struct HaloShape {
    static constexpr int row_bytes = RowBytes;

    int pitch, rows, window_rows, window_columns;

    FUSEKIT_HD HaloShape(int height, int width, Filter<2> const& filter)
        : pitch(width + filter.size[1] - 1),
          rows(Pixels / pitch < height ? Pixels / pitch : height),
          window_rows(filter.size[0]),
          window_columns(filter.size[1]) {}

    FUSEKIT_HD constexpr int rows_of_x() const { return rows + window_rows - 1; }
    FUSEKIT_HD constexpr int bytes_of_x() const { return rows_of_x() * pitch * row_bytes; }
    FUSEKIT_HD constexpr int bytes_of_y() const { return rows * pitch * ResultBytes; }
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

}  // namespace fusekit::hip
