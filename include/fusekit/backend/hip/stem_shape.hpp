// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/layout.hpp"

namespace fusekit::hip {

/// Tiling of a convolution of few input channels (a network's stem) whose pixels are contiguous in a row. A tile has 64
/// pixels of y. One row of a window is S C contiguous elements of x, read from SMEM as 32-bit words of two elements, in
/// chunks of 8 elements; the last chunk is padded with zeros. If all windows start at odd elements of x, one zero
/// precedes the first chunk. If some start at odd and others at even elements, a word would have elements of two
/// windows, and elements are read one by one.
struct StemShape {
    /// pixels of a tile of y; elements of a chunk; largest number of chunks per row of a window; largest number of
    /// elements per row of a TMA box
    static constexpr int pixels = 64, chunk = 8, max_chunks = 4, max_elements = 256;

    int shift = 0;  ///< log2 of the tile's columns of y
    int rows_of_x = 0, pitch = 0;  ///< rows of x that a tile reads; elements per row of x in SMEM
    /// distance in elements of x from a window to the next in a row; elements of left padding, from the start of a
    /// row's first window to column 0 of x
    int step = 0, lead_in = 0;
    int lead = 0, row_elements = 0;  ///< zeros before a row of a window (0 or 1); elements of a row of a window, S C
    /// chunks per row of a window; panels of the filters, each with the GemmK indices of two rows of a window for 64
    /// filters
    int chunks = 0, panels = 0;
    bool whole_words = true;
    /// true if TMA loads the rows of x; false if they are misaligned for it and bulk copies load each row, from the
    /// multiple of 16 bytes at or before its first element on
    bool by_tma = true;

    FUSEKIT_HD constexpr int columns() const { return 1 << shift; }
    FUSEKIT_HD constexpr int rows() const { return pixels >> shift; }
    FUSEKIT_HD constexpr int bytes_of_x() const { return rows_of_x * pitch * 2; }
    /// Size in bytes of one SMEM stage of x; the last chunk may end past the copied rows.
    FUSEKIT_HD constexpr int stage_bytes() const { return (bytes_of_x() + 2 * chunk + 127) / 128 * 128; }
    FUSEKIT_H constexpr std::int64_t tiles(Index<4> const& y) const {
        return y[0] * detail::divide_up(y[2], rows()) * detail::divide_up(y[3], columns());
    }

    /// Returns the shape with the fewest tiles of y, and of equal ones the widest, whose stage fits `bytes` bytes;
    /// `panels` is 0 if no stage fits.
    FUSEKIT_H static constexpr StemShape of(Index<4> const& y, std::int64_t channels, Filter<2> const& filter,
                                            int bytes, bool by_tma = true) {
        StemShape best;
        bool few = channels <= max_elements;  // keeps the products below within int
        for (int mode = 0; mode < 2; ++mode)
            few = few && filter.size[mode] <= max_elements && filter.strides[mode] <= max_elements &&
                  filter.dilations[mode] <= max_elements && filter.pad_before[mode] <= max_elements;
        if (!few) return best;
        for (int shift = 6; shift >= 0; --shift) {
            StemShape const shape(shift, static_cast<int>(channels), filter, by_tma);
            if (shape.chunks > max_chunks || shape.pitch > max_elements || shape.rows_of_x > max_elements ||
                shape.stage_bytes() > bytes)
                continue;
            if (best.panels == 0 || shape.tiles(y) < best.tiles(y)) best = shape;
        }
        return best;
    }

    FUSEKIT_H constexpr StemShape() = default;

private:
    FUSEKIT_H constexpr StemShape(int the_shift, int channels, Filter<2> const& filter, bool loads_by_tma)
        : shift(the_shift),
          rows_of_x((rows() - 1) * filter.strides[0] + (filter.size[0] - 1) * filter.dilations[0] + 1),
          step(filter.strides[1] * channels),
          row_elements(filter.size[1] * channels),
          whole_words(loads_by_tma && step % 2 == 0),
          by_tma(loads_by_tma) {
        lead = whole_words ? filter.pad_before[1] * channels % 2 : 0;
        lead_in = filter.pad_before[1] * channels + lead;
        pitch = (chunk - 1 + (columns() - 1) * step + lead + row_elements + chunk - 1) / chunk * chunk;
        if (!by_tma) pitch += chunk;
        chunks = static_cast<int>(detail::divide_up(lead + row_elements, chunk));
        panels = static_cast<int>(detail::divide_up(filter.size[0], 2));
    }
};

}  // namespace fusekit::hip
