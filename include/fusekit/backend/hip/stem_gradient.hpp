// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/arch/tensor_map.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/problem/conv.hpp"

namespace fusekit::hip {

/// K-tiles of StemWeightGradient: `pixels` pixels of a row of dy, and the rows of x that their windows read, as 32-bit
/// words. Pixels of a row of x are dense, so that a row of a window has S C consecutive elements. TMA boxes begin at
/// multiples of 16 bytes. If rows of x do, too, a box has all rows of the windows, and zeros for padding. Otherwise,
/// with `single_rows`, it has a part of one row, from up to `most_shift` elements before the first window on, and the
/// elements of padding, which are those of other rows, are masked.
struct StemGradientShape {
    static constexpr int most_pixels = 64, bytes_of_x = 16 * 1024, most_words = 256, most_shift = 7;

    int pixels = 0;  ///< a multiple of 16; 0 if the windows of 16 pixels do not fit a TMA box
    /// of a row of a box of x, a multiple of 16 bytes; with single_rows of the 128 bytes to which TMA aligns a box in
    /// SMEM
    int words = 0;
    int first = 0;  ///< elements of a box before the first window, without single_rows
    int across = 0;  ///< k-tiles of a row of dy
    bool single_rows = false;

    /// For x of `channels` channels and dy with `columns` columns.
    FUSEKIT_H constexpr StemGradientShape(Filter<2> const& filter, std::int64_t channels, std::int64_t columns,
                                          bool are_single_rows)
        : single_rows(are_single_rows) {
        if (channels > 64 || filter.strides[1] > 64 || filter.size[1] > 64) return;
        int const c = static_cast<int>(channels), step = filter.strides[1] * c, aligned = single_rows ? 32 : 4;
        first = (8 - filter.pad_before[1] * c % 8) % 8;
        std::int64_t least = 0;
        for (int count = most_pixels; count >= 16; count -= 16) {
            int const elements = (single_rows ? most_shift : first) + (count - 1) * step + filter.size[1] * c,
                      held = ((elements + 1) / 2 + aligned - 1) / aligned * aligned;
            if (held > most_words || held * 4 * filter.size[0] > bytes_of_x) continue;
            std::int64_t const tiles = (columns + count - 1) / count, time = tiles * (count + 16);
            if (pixels > 0 && time >= least) continue;
            pixels = count, words = held, across = static_cast<int>(tiles), least = time;
        }
    }
    FUSEKIT_H constexpr StemGradientShape() = default;
};

namespace detail {

/// True if a ConvWeightGradient's filter may have several taps and one group of channels.
template <class Plan>
FUSEKIT_H consteval bool has_stem_gradient() {
    if constexpr (requires { Plan::Head::collapsed.size; })
        return (Plan::Head::collapsed.size[0] > 1 || Plan::Head::collapsed.size[1] > 1) &&
               Plan::Head::collapsed.group_count == 1;
    else return true;
}

}  // namespace detail

/// Kernel argument of StemWeightGradient.
struct StemGradientTiles : StemGradientShape {
    /// (W C / 2, H, N, 1), 32-bit words; with single_rows all memory from x's first element to its last
    TensorMap x;
    TensorMap dy;  ///< (K, Q, P, N)
    FastDivmod by_across = {}, by_rows = {}, by_line = {};  ///< by_rows: rows of dy; by_line: S C
    int steps = 0, split_steps = 0;  ///< k-tiles of all images, and of a CTA
    bool in_use = false;

    FUSEKIT_H void replace_memory(void const* of_x) { hip::replace_memory(x, of_x); }
};

}  // namespace fusekit::hip
