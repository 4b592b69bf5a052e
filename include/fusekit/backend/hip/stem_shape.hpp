// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/layout.hpp"

namespace fusekit::hip {

/// Tiling of a convolution of few channels whose pixels are contiguous in a row: tiles of 64 pixels of y, and words of
/// two adjacent elements. A row of a window is S C contiguous elements of x, read in chunks of 8. The last chunk is
/// padded with zeros; if windows start at odd elements of x, a zero precedes the first chunk. If some windows start at
/// odd and others at even elements, words would straddle, and elements are read one by one.
struct StemShape {
    static constexpr int pixels = 64, chunk = 8, most_chunks = 4, most_elements = 256;  ///< of a row of a TMA box

    int shift = 0;  ///< a tile has 2^shift columns of y
    int rows_of_x = 0, pitch = 0;  ///< rows of x that a tile reads, and elements per row in SMEM
    int step = 0, before = 0;  ///< elements from one window to the next, and from the first window's start to x's start
    int lead = 0, row_elements = 0;  ///< zeros before a row of a window, and its elements
    int chunks = 0, panels = 0;  ///< per row of a window; per two rows
    bool whole_words = true;

    FUSEKIT_HD constexpr int columns() const { return 1 << shift; }
    FUSEKIT_HD constexpr int rows() const { return pixels >> shift; }
    FUSEKIT_HD constexpr int bytes_of_x() const { return rows_of_x * pitch * 2; }
    /// Bytes of SMEM; the last chunk ends past the copied rows.
    FUSEKIT_HD constexpr int stage_bytes() const { return (bytes_of_x() + 2 * chunk + 127) / 128 * 128; }
    FUSEKIT_H constexpr std::int64_t tiles(Index<4> const& y) const {
        return y[0] * detail::divide_up(y[2], rows()) * detail::divide_up(y[3], columns());
    }

    /// Returns the widest shape with the fewest tiles of y whose stage fits `bytes`; `panels` is 0 if none fits.
    FUSEKIT_H static constexpr StemShape of(Index<4> const& y, std::int64_t channels, Filter<2> const& filter,
                                            int bytes) {
        StemShape best;
        bool few = channels <= most_elements;  // bounds the products below to int
        for (int mode = 0; mode < 2; ++mode)
            few = few && filter.size[mode] <= most_elements && filter.strides[mode] <= most_elements &&
                  filter.dilations[mode] <= most_elements && filter.pad_before[mode] <= most_elements;
        if (!few) return best;
        for (int shift = 6; shift >= 0; --shift) {
            StemShape const shape(shift, static_cast<int>(channels), filter);
            if (shape.chunks > most_chunks || shape.pitch > most_elements || shape.rows_of_x > most_elements ||
                shape.stage_bytes() > bytes)
                continue;
            if (best.panels == 0 || shape.tiles(y) < best.tiles(y)) best = shape;
        }
        return best;
    }

    FUSEKIT_H StemShape() = default;

private:
    FUSEKIT_H constexpr StemShape(int the_shift, int channels, Filter<2> const& filter)
        : shift(the_shift),
          rows_of_x((rows() - 1) * filter.strides[0] + (filter.size[0] - 1) * filter.dilations[0] + 1),
          step(filter.strides[1] * channels),
          row_elements(filter.size[1] * channels),
          whole_words(step % 2 == 0) {
        lead = whole_words ? filter.pad_before[1] * channels % 2 : 0;
        before = filter.pad_before[1] * channels + lead;
        pitch = (chunk - 1 + (columns() - 1) * step + lead + row_elements + chunk - 1) / chunk * chunk;
        chunks = static_cast<int>(detail::divide_up(lead + row_elements, chunk));
        panels = static_cast<int>(detail::divide_up(filter.size[0], 2));
    }
};

}  // namespace fusekit::hip
