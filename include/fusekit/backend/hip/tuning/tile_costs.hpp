// SPDX-License-Identifier: MIT
#pragma once

namespace fusekit::hip {

/// Costs by which kernels choose the extents of their tiles, in cycles of an SM unless a comment names another unit.
/// They compare tiles of one kernel; CostTable compares kernels.

/// GatheredPlanes, per slice of 16 channels of a tile. Derived from instruction counts, not measured: an MMA with N =
/// 120 takes 60 cycles and reads 30 lines (128 bytes) of SMEM; a thread reads 8 words of filters per tap; a producer
/// warp transposes 32 positions of 8 channels with 8 loads and one store of 4 lines. Each of the 8 producer warps has
/// 4 x 8 loads in flight. A warpgroup loads fragments while the other's MMAs run.
struct GatherTileCosts {
    static constexpr int mmas = 240, alternating_mmas = 120;  ///< per tap: of both warpgroups; of one
    static constexpr int fragments = 250;  ///< fragments of operand a for 4 taps
    static constexpr int shared = 120 + 64;  ///< SMEM accesses per tap, without filters and gathered groups
    static constexpr int shared_unit = 48;  ///< SMEM accesses per unit of x and copy of it
    /// producers, per unit of 64 pixels of x: planes of an even number of pixels, of an odd one
    static constexpr int unit = 160, odd_unit = 275;
    static constexpr int only_stage = 1500;  ///< more if the loads of filters overlap no MMAs
};

/// TmaPlanes. Tiles of one k-tile on an H200; step, bytes and products are derived, not measured.
struct TmaPlaneTileCosts {
    static constexpr double tile = 800, group = 700;  ///< cycles per tile, and per group of 64 pixels, of its results
    /// least cycles of a k-tile, whose MMAs wait for its filters, and per group of pixels
    static constexpr double step = 330, group_step = 40;
    static constexpr double bytes = 50;  ///< bytes per cycle from L2 to SMEM
    static constexpr double products = 1.1;  ///< factor on the published cycles of MMAs
};

/// Grouped, per CTA of 4 warps. Reading a fragment takes 4 cycles for each row of a strip (operand a), or 2 for all 4
/// rows (operand b).
struct GroupedTileCosts {
    static constexpr double sliding_mma = 2.3;  ///< per MMA, if a row's fragments serve several taps
    static constexpr double mma = 0.5;  ///< per MMA in addition to its loads
    static constexpr double load = 0.4;  ///< per pixel and block of 8 channels of the halo
    static constexpr double filter = 8.0;  ///< per 32 filters and step
    static constexpr int cta = 100, launch = 1000;
    /// fraction of a CTA's cycles that co-resident CTAs do not hide, times their number
    static constexpr double exposed = 0.5;
};

/// GroupedTmaConv, fitted to 819 combinations of layer and tile on an H200.
struct GroupedTmaTileCosts {
    /// of one warp: a step of an item, the fraction of it at stride 2, an item, a tile, and a tile in the only stage
    static constexpr double step = 105, strided_step = 0.32, item = 1750, tile = 85, only_stage = 1880;
    static constexpr double mma_step = 40, mma_item = 80;  ///< of all MMAs of an SM
    static constexpr double bytes = 28.8;  ///< bytes per cycle between L2 and SMEM
    static constexpr double overlapped = 0.51, added = 0.49;  ///< weights of the longest part, and of the parts' sum
    static constexpr double filter_copy = 115, launch = 1660;
    /// factors on a tile of all phases of a gradient by x, if CTAs have two stages: with several CTAs on an SM, and for
    /// tiles of at most two runs across; fitted to 109 combinations on an H200
    static constexpr double phased = 0.85, phased_narrow = 1.05;
};

/// GroupedWeightGradient, of a CTA, fitted to 48 measurements on an H200 within 8 %. exposed: fraction of the shorter
/// of an item's copies and MMAs that is not hidden.
struct GroupedGradientTileCosts {
    static constexpr double load = 2.2;  ///< per pixel of x and dy, and CTA on an SM
    static constexpr double step = 333, item = 915, cta = 9700, exposed = 0.36;
};

/// DepthwiseHaloWeightGradient, fitted to 21 layers' tiles and splits on an H200: times within 12 %, choices within 2.3
/// % of the fastest on average. bytes: per cycle of an SM from memory. issue: instructions per cycle of an SM. alone:
/// cycles per instruction of a warp that is alone on its scheduler. item: instructions of a warp per item. copy:
/// instructions of all warps per pixel, times the bytes of a thread's copy. exposed: as above, of copies and
/// arithmetic.
struct DepthwiseGradientTileCosts {
    static constexpr double bytes = 36, issue = 3.1, alone = 3, item = 275, copy = 9.5, cta = 1000, exposed = 0.46;
    static constexpr int shared_bytes = 227 * 1024;  ///< SMEM of an SM
    static constexpr double row = 1300;  ///< of DepthwiseWeightGradient, per row of an item: latency of its loads
};

/// CTAs that add their accumulators: of a cluster, and bytes per cycle; of groups through workspace, per group, and
/// bytes per cycle. Fitted with DepthwiseGradientTileCosts.
struct GradientSplitCosts {
    static constexpr double cluster = 500, cluster_bytes = 6.3, groups = 3300, group = 3, group_bytes = 22;
};

/// Depthwise kernels with a halo in SMEM.
struct DepthwiseHaloTileCosts {
    static constexpr double launch = 5000, round = 1500;  ///< the first round of resident CTAs; each later one
    static constexpr double instruction = 1.9, all_instructions = 0.137;  ///< of one warp alone; of all warps of an SM
    static constexpr double byte = 0.068;  ///< per byte of x and y
    static constexpr int tap_instructions = 9, thread_instructions = 150;  ///< per output beyond its taps; per step
    /// columns that two CTAs read cost as much as this number of others more, if memory limits the kernel: few taps
    static constexpr double shared_column = 1.5;
};

/// DepthwisePlanes: factor on the time of planes that do not begin and end at whole packets.
struct DepthwisePlaneTileCosts {
    static constexpr double partial_packets = 1.06;
};

/// PhasedHalo: bytes per cycle of TMA loads of x.
struct PhasedHaloTileCosts {
    static constexpr int bytes = 40;
};

/// Col2im: cycles in which SMEM passes a fragment of x and two of filters to a warp.
struct Col2imTileCosts {
    static constexpr double fragments = 12;
};

}  // namespace fusekit::hip
