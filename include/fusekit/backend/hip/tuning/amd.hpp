// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/tags.hpp"
#include "fusekit/backend/hip/tuning/cost.hpp"
#include "fusekit/backend/hip/tuning/policy.hpp"

namespace fusekit::hip {

/// Tiles and costs for AMD's GPUs. Tiles are selected by properties of the compiled code (no spills, LDS, resident
/// waves), not by measurement.
struct AmdTuning {
    using Architecture = arch::Amd;

    /// Costs for AMD's GPUs: multiply-adds take their published cycles; the other costs are uncalibrated.
    static constexpr CostTable costs = [] {
        CostTable result;
        result.direct.arithmetic = 8;
        result.depthwise.arithmetic = 2;
        result.gemv.min_step = 700, result.gemv.arithmetic = 2;
        return result;
    }();

    /// Tiles of Gemm. The k-tile is short because several CTAs have 64 KB of LDS in all.
    static constexpr GemmTile gemm[] = {{.m = 128, .n = 128, .k = 8, .blocks = 2},
                                        {.m = 64, .n = 64, .k = 8, .blocks = 6}};

    static constexpr bool chooses_split = false;
    static constexpr GemmTile split = {.m = 64, .n = 64, .k = 8, .blocks = 6};

    /// Tiles of NativeGemm. A wave of 64 lanes has 64 pixels x 64 channels of accumulators, a wave of 32 lanes 32
    /// pixels x 64 channels, so that registers remain for loads.
    static constexpr NativeTile native[] = {{.m = 128, .n = 128, .blocks = 2}, {.m = 64, .n = 64, .blocks = 6}};
    /// Tiles of NativeGemm for 8-bit elements. With 128 channels the products hide the latency of transposing
    /// contiguous pixels.
    static constexpr NativeTile native_bytes[] = {native[0], {.m = 64, .n = 128, .blocks = 3}, native[1]};
    static constexpr bool native_floats = true;

    /// The wide tile of weight gradients takes 6 to 9 % less mainloop time per product. It is used if wide tiles cover
    /// at most 1 + 1 / idle_wide_gradient_tiles times the channels, unused ones included, that narrow tiles cover.
    static constexpr int idle_wide_gradient_tiles = 16;

    /// Tile of an elementwise plan: four elements per access, two loads in flight per thread.
    FUSEKIT_H static constexpr ElementwiseCut elementwise(ElementwiseCase plan) {
        bool const few = plan.element_bytes == 4 || plan.stores;
        int const iterations = few ? (plan.pixelwise ? 8 : 4) : (plan.pixelwise ? 32 : 8);
        return {.threads = 256,
                .bytes = 4 * plan.element_bytes,
                .iterations = iterations,
                .unroll = plan.stores ? 1 : 2,
                .blocks = 5,
                .tile_iterations = iterations};
    }

    FUSEKIT_H static constexpr ReductionCut reduction(int element) {
        return {.threads = 256, .bytes = 4 * element, .unroll = 4, .blocks = 2};
    }
};

}  // namespace fusekit::hip
