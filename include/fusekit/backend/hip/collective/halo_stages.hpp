// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/tensor/filter.hpp"

namespace fusekit::hip {

/// How rows of y, and the rows of x that they see, lie in a tile of `Pixels`. A row of x has `pitch` columns: as many
/// as one of y, and what its last window reaches beyond. Pixel (p, q) of y is number p pitch + q, and its tap (r, s) is
/// pixel r pitch + s further on: the same tile, begun later. Where q is past the end of a row, the result means
/// nothing. A pixel of x has RowBytes: 64 channels, with zeros for those that x does not have. A pixel of y has
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
    /// Of shared memory. The last tap's products read Pixels from where it begins, and as many results take its place.
    FUSEKIT_HD constexpr int stage_bytes() const {
        int most = ((window_rows - 1) * pitch + window_columns - 1 + Pixels) * row_bytes;
        for (int const bytes : {bytes_of_x(), Pixels * ResultBytes}) most = bytes > most ? bytes : most;
        return (most + 1023) / 1024 * 1024;
    }
    /// Stages that `bytes` hold, as many as have barriers.
    FUSEKIT_HD constexpr int stages(int bytes, int most) const {
        int const held = bytes / stage_bytes();
        return held < most ? held : most;
    }
};

}  // namespace fusekit::hip
