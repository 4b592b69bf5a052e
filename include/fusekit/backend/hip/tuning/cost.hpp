// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/tuning/rates.hpp"

namespace fusekit::hip {

/// What limits a launch.
enum class Bound : unsigned char { arithmetic, cache, memory, latency };

FUSEKIT_H constexpr char const* name_of(Bound bound) {
    constexpr char const* names[] = {"arithmetic", "L2", "memory", "latency"};
    return names[static_cast<int>(bound)];
}

/// What a kernel does, as the model of its time sees it: the processor with the most tiles computes `rounds` of them,
/// one after another, or so many at once, in `steps` along GemmK.
struct Walk {
    double rounds, steps;
    double arithmetic;  ///< cycles of a step's products
    double cache_bytes = 0;  ///< that a step reads
    double copies = 0;  ///< cycles in which its copies begin, at the least
    double outputs = 0;  ///< of a round
    double exchanges = 0;  ///< cycles in which blocks that share tiles exchange sums
};

/// What the products of a kind of schedule do not take, in cycles: measured corrections.
struct Costs {
    double launch = 0;  ///< from a launch to the first step, and after the last round
    double round = 0, output = 0;  ///< beside the steps of a round, and for each of its outputs
    double step = 0, least_step = 0;  ///< beside the products of a step, and a whole one at the least
    double arithmetic = 1;  ///< how many times their cycles products take
};

/// When tiles are shared along GemmK: at most so many a processor. Each doubling of the blocks a tile takes so many
/// cycles of each, in clusters and in workspace.
struct SplitCosts {
    int most_tiles = 0;
    double cluster_cycles = 0, workspace_cycles = 0;
};

/// How WarpSpecialized's TMA loads and products share a processor, in cycles where no other unit is named.
struct TmaCosts {
    double ping_pong_last_round = 1;  ///< of a round that few processors have, at the least
    double shared_memory = 1;  ///< of the time that shared memory takes to give a step's rows to products
    double narrow_row = 0, short_row = 0;  ///< a copied row that x does not fill; a row of less than 128 bytes
    double row_beyond = 0;  ///< a row of filters past the last one,
    double processors_beyond = 1;  ///< and one more for so many processors that copy some
    int split_processors = 1;  ///< CTAs that share tiles are at most this fraction of the processors
};

/// Processors that run no cluster of 8 or 4 CTAs: one of so many.
struct IdleInClusters {
    int of_8 = 1, of_4 = 1;
};

/// Groups with fewer output channels leave most of a matrix unit's product empty.
inline constexpr std::int64_t least_matrix_channels = 16;

/// Costs of all kinds, and the share of memory's rate that kernels reach.
struct CostTable {
    Costs gemm, native, matrix, gathering_matrix, float_matrix, gathering_float_matrix, tf32_matrix, warp_specialized,
        warp_specialized_in_turns, split_warp_specialized, halo, halo_bytes, planes, planes_taps, shared_planes,
        shared_planes_taps, float_planes, float_planes_taps, float_pixels, float_pixels_taps, stem, direct;
    /// What statistics add to the two ways of bulk copies; to a round where each tile puts totals of its own.
    Costs totals, totals_in_turns;
    Costs maxima;  ///< what a largest magnitude adds to a halo, whose tiles have gaps
    SplitCosts split, matrix_split, bulk_split;
    TmaCosts tma;
    IdleInClusters idle;
    double memory_share = 0.85;
    double clock_share = 1;  ///< of the highest clock, under load
};

/// The seconds of a launch, and their largest part.
struct Estimate {
    double seconds = infinite;
    Bound bound = Bound::latency;
    int parts = 1;  ///< blocks that share a tile

    static constexpr double infinite = 1e300;
    FUSEKIT_H constexpr bool is_finite() const { return seconds < infinite; }
};

/// The time of a walk whose tensors have `bytes`. Memory's time and the processors' overlap, but not at their ends:
/// their sum is of fourth powers, a fifth more than the longer where they are equal.
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
