// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/tuning/rates.hpp"

namespace fusekit::hip {

/// Resource that limits a launch.
enum class Bound : unsigned char { arithmetic, cache, memory, latency };

FUSEKIT_H constexpr char const* name_of(Bound bound) {
    constexpr char const* names[] = {"arithmetic", "L2", "memory", "latency"};
    return names[static_cast<int>(bound)];
}

/// A kernel's work in the model: the busiest processor computes `rounds` of tiles, each round one tile or several at
/// once, in `steps` along GemmK.
struct Walk {
    double rounds, steps;
    double arithmetic;  ///< of a step's products, in cycles
    double cache_bytes = 0;  ///< read by a step
    double copies = 0;  ///< least cycles of issuing a step's copies
    double outputs = 0;  ///< of a round
    double exchanges = 0;  ///< cycles of exchanging accumulators between CTAs that share tiles
};

/// Measured overheads of a kind of schedule beyond its products, in cycles.
struct Costs {
    double launch = 0;  ///< before the first step and after the last round
    double round = 0, output = 0;  ///< per round beyond its steps, and per output of a round
    double step = 0, least_step = 0;  ///< per step beyond its products, and the least cycles of a whole step
    double arithmetic = 1;  ///< factor on the products' published cycles
};

/// Split-K: at most `most_tiles` tiles per processor are split. Each doubling of the CTAs per tile costs
/// `cluster_cycles` in clusters, or `workspace_cycles` through workspace, for each of the processor's CTAs.
struct SplitCosts {
    int most_tiles = 0;
    double cluster_cycles = 0, workspace_cycles = 0;
};

/// Costs of WarpSpecialized's TMA loads beside its products, in cycles unless another unit is named.
struct TmaCosts {
    double ping_pong_last_round = 1;  ///< least share of a full round that a partly filled last round costs
    double shared_memory = 1;  ///< factor on the SMEM time of reading a step's rows
    double narrow_row = 0, short_row = 0;  ///< a copied row that x's channels do not fill; a row of less than 128 bytes
    double row_beyond = 0;  ///< a row of filters past the last filter,
    double processors_beyond = 1;  ///< plus one cycle per this many processors that copy such rows
    int split_processors = 1;  ///< split tiles use at most this fraction of the processors
};

/// Plain arithmetic: waves of 32 lanes on `schedulers` schedulers. A tile of m x n issues 1 + loads / m + loads / n
/// instructions per product, and w waves of a scheduler reach w / (w + waiting_waves) of the issue rate.
struct SimtCosts {
    int schedulers = 4;
    double loads = 16, waiting_waves = 1;
};

/// Stem: cycles in which a chunk of 16 GemmK indices reads its filters, and its words of x, from SMEM.
struct StemCosts {
    double filters = 0, words = 0;
};

/// Weight gradients on sm_90a's matrix units, in cycles unless another unit is named. Thousands of accumulators are
/// those of a tile.
struct WeightCosts {
    double cache_bytes = 1, cluster_cache_bytes = 1;  ///< from L2 per cycle, without clusters and in clusters
    double copied_pixel = 0, copied_window = 0;  ///< a TMA copy of rows, per pixel; an im2col copy
    double memory_bytes = 1;  ///< per cycle
    double tile = 0, accumulators = 0;  ///< per round beyond its k-tiles, and per thousand accumulators
    double cluster = 0, cluster_accumulators = 0;  ///< exchange within a cluster
    double merge = 0, merge_accumulators = 0;  ///< merge through workspace, the latter per group
};

/// One of this many processors runs no cluster of 8 or 4 CTAs.
struct IdleInClusters {
    int of_8 = 1, of_4 = 1;
};

/// Groups with fewer output channels leave most of an MMA instruction's columns empty.
inline constexpr std::int64_t least_matrix_channels = 16;

/// Groups with at most this many output channels leave most of a tile empty; Direct computes them.
inline constexpr std::int64_t direct_max_group_channels = 4;

/// Threads per processor that saturate memory bandwidth: small tensors are cut into at least this many.
inline constexpr std::int64_t min_threads_per_processor = 1024;

/// Cycles of sm_90a's matrix units for 64 rows x `columns` columns x 32 bytes of GemmK.
FUSEKIT_H constexpr double wgmma_cycles(double columns) { return columns / 2; }

/// Costs of all schedules, and the fraction of memory bandwidth that kernels reach.
struct CostTable {
    Costs gemm, native, matrix, gathering_matrix, float_matrix, gathering_float_matrix, tf32_matrix, warp_specialized,
        warp_specialized_in_turns, split_warp_specialized, halo, halo_bytes, planes, planes_taps, shared_planes,
        shared_planes_taps, float_planes, float_planes_taps, float_pixels, float_pixels_taps, stem, direct;
    /// Costs that statistics add to the two kinds of TMA schedules: per round in which each tile stores its own totals.
    Costs totals, totals_in_turns;
    Costs maxima;  ///< costs that Amax adds to Halo, whose tiles have gaps
    SplitCosts split, matrix_split, bulk_split;
    TmaCosts tma;
    SimtCosts simt = {};
    StemCosts stem_reads = {};
    WeightCosts weights = {};
    IdleInClusters idle;
    double memory_share = 0.85;
    double clock_share = 1;  ///< fraction of the peak clock under load
};

/// Seconds of a launch, and the resource with the largest share.
struct Estimate {
    double seconds = infinite;
    Bound bound = Bound::latency;
    int parts = 1; ///< split-K: CTAs per tile

    static constexpr double infinite = 1e300;
    FUSEKIT_H constexpr bool is_finite() const { return seconds < infinite; }
};

/// Time of a walk whose tensors have `bytes`. Memory time and processor time overlap except at their ends: the model
/// takes (a^4 + b^4)^(1/4), which is 1.19 of the longer if both are equal.
FUSEKIT_H constexpr Estimate estimate(Walk const& walk, Costs const& costs, double bytes, CostTable const& table,
                                      GpuRates const& rates) {
    double const products = costs.step + costs.arithmetic * walk.arithmetic,
                 cache = walk.cache_bytes / rates.cache_bytes;
    double step = products;
    for (double const other : {cache, walk.copies, costs.least_step}) step = other > step ? other : step;
    double const steps = walk.rounds * walk.steps * step,
                 rest = costs.launch + walk.rounds * (costs.round + costs.output * walk.outputs) + walk.exchanges;
    double const processors = (steps + rest) / (rates.clock * table.clock_share),
                 memory = bytes / (rates.memory_bytes * table.memory_share);
    double const longer = processors > memory ? processors : memory,
                 shorter = processors > memory ? memory : processors, share = longer > 0 ? shorter / longer : 0,
                 square = share * share;
    // (1 + q^4)^(1/4), within 0.3 %
    double const more = 1 + square * square * (0.2467 - 0.0575 * square * square);
    Bound const bound = memory > processors                                            ? Bound::memory
                        : rest > steps || step > (products > cache ? products : cache) ? Bound::latency
                        : cache > products                                             ? Bound::cache
                        : costs.step > products - costs.step                           ? Bound::latency
                                                                                       : Bound::arithmetic;
    return {rates.launch + longer * more, bound};
}

}  // namespace fusekit::hip
