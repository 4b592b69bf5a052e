// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/tags.hpp"
#include "fusekit/backend/hip/tuning/cost.hpp"
#include "fusekit/backend/hip/tuning/policy.hpp"

namespace fusekit::hip {

/// Chosen from machine code, not measured: no spills, enough shared memory and enough waves.
struct AmdTuning {
    using Architecture = arch::Amd;

    /// Products take the cycles that they are published to take; what else there is, no GPU has told.
    static constexpr CostTable costs = [] {
        CostTable result;
        result.direct.arithmetic = 8;
        return result;
    }();

    /// 64 KB of shared memory do not hold long buffers of many blocks.
    static constexpr GemmTile gemm[] = {{.m = 128, .n = 128, .k = 8, .blocks = 2},
                                        {.m = 64, .n = 64, .k = 8, .blocks = 6}};

    static constexpr bool chooses_split = false;
    static constexpr GemmTile split = {.m = 64, .n = 64, .k = 8, .blocks = 6};

    /// Waves of 64 have 64 x 64 sums, waves of 32 have 32 pixels of 64 channels: registers hold no more beside the
    /// loads.
    static constexpr NativeTile native[] = {{.m = 128, .n = 128, .blocks = 2}, {.m = 64, .n = 64, .blocks = 6}};
    /// Where pixels of 8 bits are neighbours, products of 128 channels hide what it takes to transpose them.
    static constexpr NativeTile native_bytes[] = {native[0], {.m = 64, .n = 128, .blocks = 3}, native[1]};
    static constexpr bool native_floats = true;

    /// A thread takes four elements at a time, two loads ahead.
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
