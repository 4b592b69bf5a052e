// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/layout.hpp"

namespace fusekit::hip {

/// How a convolution of few channels, which neighbour as pixels of a row do, is cut into tiles of 64 pixels of y and
/// into words of two neighbours. A row of a window is S C neighbours of x, taken in chunks of 8: the last chunk has
/// zeros at its end, and, where windows begin at odd elements of x, the first one has a zero before them. Where some
/// pixels' windows begin at odd elements and others' at even ones, there are no whole words, and elements are read one
/// by one.
struct StemShape {
    static constexpr int pixels = 64, chunk = 8, most_chunks = 4, most_elements = 256;  ///< of a row of a bulk copy

    int shift = 0;  ///< a tile has 2^shift columns of y
    int rows_of_x = 0, pitch = 0;  ///< that a tile reads, and elements from one to the next in shared memory
    int step = 0, before = 0;  ///< elements from one window to the next, and from the first one's begin to x's
    int lead = 0, row_elements = 0;  ///< zeros before a row of a window, and the elements that it has
    int chunks = 0, panels = 0;  ///< of a row of a window; of two rows of it
    bool whole_words = true;

    FUSEKIT_HD constexpr int columns() const { return 1 << shift; }
    FUSEKIT_HD constexpr int rows() const { return pixels >> shift; }
    FUSEKIT_HD constexpr int bytes_of_x() const { return rows_of_x * pitch * 2; }
    /// Of shared memory: the last chunk ends after what is copied.
    FUSEKIT_HD constexpr int stage_bytes() const { return (bytes_of_x() + 2 * chunk + 127) / 128 * 128; }
    FUSEKIT_H constexpr std::int64_t tiles(Index<4> const& y) const {
        return y[0] * detail::divide_up(y[2], rows()) * detail::divide_up(y[3], columns());
    }

    /// The widest shape with the fewest tiles of y for which `bytes` hold a stage; with no panels, where there is none.
    FUSEKIT_H static constexpr StemShape of(Index<4> const& y, std::int64_t channels, Filter<2> const& filter,
                                            int bytes) {
        StemShape best;
        bool few = channels <= most_elements;  // so that products of these numbers fit int
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
