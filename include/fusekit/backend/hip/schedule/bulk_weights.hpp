// SPDX-License-Identifier: MIT
#pragma once

namespace fusekit::hip {

/// Schedule of a weight gradient on sm_90a's tensor cores: a CTA computes a tile of dw with Rows channels of y and
/// Columns columns (tap, channel of x), in k-tiles of Pixels pixels through Stages SMEM stages. A warpgroup has 64 *
/// Products of the tile's rows. The library chooses this schedule; callers cannot.
template <int Rows, int Columns, int Pixels, int Stages, int Products = 1>
struct BulkWeights {
    static constexpr int rows = Rows, columns = Columns, pixels = Pixels, stages = Stages, products = Products;
    static constexpr int warpgroups = Rows / (64 * Products);
    /// True if registers hold a second accumulator for promotion; else a CTA reduces at most unpromoted_pixels pixels.
    static constexpr bool promotes = Columns * Products <= 128 && warpgroups <= 2;
    static constexpr int unpromoted_pixels = 4096;
};

}  // namespace fusekit::hip
