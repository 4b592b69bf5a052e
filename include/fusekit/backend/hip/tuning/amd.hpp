// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/tags.hpp"
#include "fusekit/backend/hip/tuning/cost.hpp"
#include "fusekit/backend/hip/tuning/policy.hpp"

namespace fusekit::hip {

/// Tiles for AMD's GPUs, chosen from machine code, not measured: no spills, enough LDS and enough waves.
struct AmdTuning {
    using Architecture = arch::Amd;

    /// Products take their published cycles; everything else is uncalibrated.
    static constexpr CostTable costs = [] {
        CostTable result;
        result.direct.arithmetic = 8;
        return result;
    }();

    /// 64 KB of LDS bound the k-tiles of several CTAs.
    static constexpr GemmTile gemm[] = {{.m = 128, .n = 128, .k = 8, .blocks = 2},
                                        {.m = 64, .n = 64, .k = 8, .blocks = 6}};

    static constexpr bool chooses_split = false;
    static constexpr GemmTile split = {.m = 64, .n = 64, .k = 8, .blocks = 6};

    /// A wave of 64 lanes has 64 x 64 accumulators, a wave of 32 lanes 32 pixels x 64 channels: the loads leave
    /// registers for no more.
    static constexpr NativeTile native[] = {{.m = 128, .n = 128, .blocks = 2}, {.m = 64, .n = 64, .blocks = 6}};
    /// With 128 channels the products of 8-bit elements with contiguous pixels hide the cost of transposing the pixels.
    static constexpr NativeTile native_bytes[] = {native[0], {.m = 64, .n = 128, .blocks = 3}, native[1]};
    static constexpr bool native_floats = true;

    /// Wide tiles of weight gradients take 6 to 9 % less mainloop time per product: one in this many may be idle.
    static constexpr int idle_wide_gradient_tiles = 16;

    /// Four elements per access, two loads in flight.
    FUSEKIT_H static constexpr ElementwiseCut elementwise(ElementwiseCase plan) {
        bool const few = plan.element_bytes == 4 || plan.stores;
        int const iterations = few ? (plan.placewise ? 8 : 4) : (plan.placewise ? 32 : 8);
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
