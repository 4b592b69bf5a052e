// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/tensor/filter.hpp"

namespace fusekit::hip {

/// Layout of rows of y, and of the rows of x that their windows read, in a tile of `Pixels`. A row of x has `pitch`
/// columns: those of a row of y plus the reach of its last window. Pixel (p, q) of y has index p pitch + q; its tap (r,
/// s) is the pixel of x at r pitch + s from there, so a tap's operand is the same tile at an offset. Results with q
/// past the end of a row are invalid. A pixel of x has RowBytes: 64 channels, zero past x's channels. A pixel of y has
/// ResultBytes.
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
    /// Bytes of SMEM. The last tap's products read Pixels pixels from its offset on, and the output tile reuses the
    /// stage.
    FUSEKIT_HD constexpr int stage_bytes() const {
        int most = ((window_rows - 1) * pitch + window_columns - 1 + Pixels) * row_bytes;
        for (int const bytes : {bytes_of_x(), Pixels * ResultBytes}) most = bytes > most ? bytes : most;
        return (most + 1023) / 1024 * 1024;
    }
    /// Stages that fit `bytes`, at most `most`.
    FUSEKIT_HD constexpr int stages(int bytes, int most) const {
        int const held = bytes / stage_bytes();
        return held < most ? held : most;
    }
};

}  // namespace fusekit::hip
