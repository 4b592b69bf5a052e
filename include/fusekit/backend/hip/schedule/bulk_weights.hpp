// SPDX-License-Identifier: MIT
#pragma once

namespace fusekit::hip {

/// A gradient by the weights on sm_90a's matrix units: a CTA computes Rows channels of y of Columns taps and channels
/// of x, and takes Pixels at a time through so many stages. A warpgroup has Products times 64 rows. The library chooses
/// it.
template <int Rows, int Columns, int Pixels, int Stages, int Products = 1>
struct BulkWeights {
    static constexpr int rows = Rows, columns = Columns, pixels = Pixels, stages = Stages, products = Products;
    static constexpr int warpgroups = Rows / (64 * Products);
    /// Whether registers have room to add up sums of few pixels; else a CTA takes unpromoted_pixels at most.
    static constexpr bool promotes = Columns * Products <= 128 && warpgroups <= 2;
    static constexpr int unpromoted_pixels = 4096;
};

}  // namespace fusekit::hip
