// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/tensor/filter.hpp"

namespace fusekit::hip {

/// SMEM layout of some rows of y, and of the rows of x that their windows read, in a tile of `Pixels` pixels. A row of
/// x has `pitch` columns: the width of y plus the reach of the last window. Pixel (p, q) of y has index p pitch + q;
/// its tap (r, s) reads the pixel of x whose index is larger by r pitch + s, so that a tap's operand is the tile of x
/// at an offset. Accumulators with q past the end of a row are not stored. A pixel of x has RowBytes: 64 channels,
/// zeros past x's last channel. A pixel of y has ResultBytes.
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
    /// Bytes of one SMEM stage, which holds the tile of x, then the tile of y. Includes the pixels past the tile of x
    /// that the last tap's MMAs read: `Pixels` pixels from the tap's offset on.
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
