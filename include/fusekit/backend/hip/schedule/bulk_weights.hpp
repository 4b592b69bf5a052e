// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/config.hpp"

namespace fusekit::hip {

/// Number of channels in one TMA box: of x (columns of dw) or of dy (rows of dw).
inline constexpr int weight_block = 64;

/// Channels of y in a tile of a schedule of `rows` rows, if groups of channels have `channels` channels each (of x, and
/// of y): whole groups, or a part of one.
FUSEKIT_HD constexpr int grouped_rows(int rows, int channels) { return channels % rows == 0 ? rows : weight_block; }

/// Schedule of a weight gradient on sm_90a's tensor cores: a CTA computes a tile of dw of Rows channels of y x Columns
/// columns (a column is a tap and a channel of x), in k-tiles of Pixels pixels through Stages SMEM stages. A warpgroup
/// has 64 * Products of the tile's rows. The library selects this schedule; callers cannot name it.
template <int Rows, int Columns, int Pixels, int Stages, int Products = 1>
struct BulkWeights {
    static constexpr int rows = Rows, columns = Columns, pixels = Pixels, stages = Stages, products = Products;
    static constexpr int warpgroups = Rows / (64 * Products);
    /// True if registers hold a second accumulator for promotion to float; else a CTA reduces at most unpromoted_pixels
    /// pixels.
    static constexpr bool promotes = Columns * Products <= (warpgroups <= 2 ? 192 : 128) && warpgroups <= 3;
    /// True if the accumulators need registers that a producer warpgroup deallocates; else one warp loads.
    static constexpr bool moves_registers = promotes && (Columns * Products > 128 || warpgroups > 2);
    static constexpr int unpromoted_pixels = 4096;
    /// True if groups of CTAs may add their sums in sequence (SplitKGroups): workspace holds few sums of large tiles.
    static constexpr bool sequences = Rows * Columns > 128 * 128;
};

}  // namespace fusekit::hip
