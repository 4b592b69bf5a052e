// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/schedule/bulk_weights.hpp"

namespace fusekit::hip {

/// Schedule of a weight gradient over few pixels on sm_90a's tensor cores, for filters of one tap: persistent CTAs,
/// Blocks on an SM, compute tiles of dw of Rows channels of y x Columns channels of x, each over all pixels, in k-tiles
/// of Pixels pixels through Stages SMEM stages. TMA loads the operands of the next tiles while a tile is stored. The
/// library selects this schedule; callers cannot name it.
template <int Rows, int Columns, int Pixels, int Stages, int Blocks>
struct PersistentWeights {
    static constexpr int rows = Rows, columns = Columns, pixels = Pixels, stages = Stages, blocks = Blocks;
    static constexpr int warpgroups = Rows / weight_block;
    /// The accumulators are not promoted to float: they are sums of at most as many pixels.
    static constexpr int max_pixels = 4096;
};

}  // namespace fusekit::hip
