// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/tuning/rates.hpp"

namespace fusekit::hip {

/// Resource that limits the time of a launch in the cost model.
enum class Bound : unsigned char { arithmetic, cache, memory, latency };

FUSEKIT_H constexpr char const* name_of(Bound bound) {
    constexpr char const* names[] = {"arithmetic", "L2", "memory", "latency"};
    return names[static_cast<int>(bound)];
}

/// Work of the busiest SM (or compute unit) of a launch in the cost model. The SM has `rounds` rounds, one after
/// another; in a round it computes the tiles of all its resident CTAs, or one tile. Each round has `steps` steps along
/// GemmK, usually k-tiles. See estimate().
struct Workload {
    double rounds, steps;
    double arithmetic;  ///< cycles of the multiply-adds of a step, at the published rate
    double cache_bytes = 0;  ///< bytes that a step reads from L2
    double copies = 0;  ///< cycles to issue a step's copies, a lower bound of the step's time
    double outputs = 0;  ///< elements of y that a round stores
    double exchanges = 0;  ///< cycles in which the CTAs of a split-K tile add their accumulators
};

/// Costs of a kind of schedule in cycles, in addition to its multiply-adds; fitted to measurements.
struct Costs {
    double launch = 0;  ///< before the first step and after the last round
    double round = 0, output = 0;  ///< cycles per round in addition to its steps; cycles per element of y
    double step = 0, min_step = 0;  ///< cycles per step in addition to its multiply-adds; least cycles of a step
    double arithmetic = 1;  ///< cycles of the multiply-adds as a multiple of their published cycles
};

/// Costs and limit of split-K, which the library selects for at most `max_tiles` tiles per SM. Each doubling of the
/// CTAs per tile costs an SM, for each of its CTAs, `cluster_cycles` cycles if the CTAs of a tile form a cluster, or
/// `workspace_cycles` if they exchange accumulators through workspace.
struct SplitCosts {
    int max_tiles = 0;
    double cluster_cycles = 0, workspace_cycles = 0;
};

/// Costs of WarpSpecialized's TMA loads and SMEM reads in addition to its multiply-adds, in cycles unless a comment
/// names another unit.
struct TmaCosts {
    /// a partly filled last round of ping-pong costs at least this fraction of a full round
    double ping_pong_last_round = 1;
    /// factors on the time of a step's MMAs at the published clock, and on the SMEM time of reading a step's rows
    double products = 1, shared_memory = 1;
    /// cycles per row of a k-tile with fewer channels than a row holds, an even or an odd number of 16-byte packets;
    /// cycles per copied row of less than 128 bytes
    double narrow_row = 0, odd_row = 0, short_row = 0;
    /// cycles per row that straddles L2's sectors, in whole k-tiles: with all SMs, and at least
    double misaligned_row = 0, least_misaligned_row = 0;
    double clipped_odd_row = 0;  ///< the same of the last k-tile of a tap, with more than one packet
    double beside_narrow = 0;  ///< share of the MMAs of whole k-tiles that does not overlap the copies of narrow ones
    /// least cycles of a k-tile, and more per pixel of the tile: a warpgroup's MMAs add to the same accumulators, each
    /// after the one before
    double chain = 0, chain_row = 0;
    /// several groups of channels: cycles per row of a k-tile whose last channels TMA clips, and a factor on it if the
    /// channels of a group have other k-tiles, too
    double group_row = 0, last_group_row = 1;
    /// cycles per row of x, and per k-tile, where k-tiles have the channels of several taps, which threads copy
    double packed_row = 0, packed_step = 0;
    double packed_pixel = 0;  ///< cycles per pixel of a tile, in addition, of a filter with one tap
    double ping_pong_narrow = 1;  ///< factor on narrow_row and odd_row with ping-pong
    double split_cache = 1;  ///< factor on the time of operands from L2 with split-K
    /// cycles per row that TMA copies past the last filter: row_beyond, plus 1 for every processors_beyond SMs that
    /// copy such rows
    double row_beyond = 0;
    double processors_beyond = 1;
    /// MN-major filters, of a TransposedConv: cycles per row of both operands of a k-tile with fewer channels than a
    /// row holds; more per row of filters that TMA clips, and per row that begins within 128 bytes and is not clipped
    double transposed_row = 0, clipped_row = 0, past_row = 0;
    double copy = 0;  ///< cycles per cp.async of 32 threads, which load operands that are misaligned for TMA
    double stored_pixel = 0;  ///< cycles per pixel that threads store, because y's pixels are misaligned for TMA
    /// factor on the time of phases whose pixels of y, of less than 64 bytes, end within a sector of 32 bytes: other
    /// phases write the rest of the sector
    double partial_sectors = 1;
    /// stream-K tail: barriers and shared memory of an exchange of accumulators, in cycles; bytes per cycle of DSMEM
    double exchange = 0, exchanged_bytes = 1;
    double divided_cache = 1;  ///< factor on operands from L2 of a single round whose tiles are divided
};

/// Cycles per row of x of a k-tile of WarpSpecialized, at 192 rows. packed: threads copy the channels of several taps.
/// The others are TMA loads of one tap: whole, with channels that fill the row; even and odd, with an even or odd
/// number of 16-byte packets, for rows of filters as well.
struct PackingCosts {
    double packed = 1, whole = 1, even = 1, odd = 1;

    /// True if packed k-tiles of a convolution with elements of 16 bits are expected to take less time.
    FUSEKIT_H constexpr bool saves(std::int64_t channels, std::int64_t taps, std::int64_t filters) const {
        constexpr std::int64_t tile_k = 64, rows = 192, most_filters = 128;
        double const of_filters = static_cast<double>(filters < most_filters ? filters : most_filters) / rows,
                     of_last = channels % tile_k == 0 ? 0 : (channels % 16 == 0 ? even : odd) * (1 + of_filters);
        return packed * static_cast<double>((channels * taps + tile_k - 1) / tile_k) <
               static_cast<double>(taps) * (whole * static_cast<double>(channels / tile_k) + of_last);
    }
};

/// Rates of SIMT arithmetic: waves of 32 lanes on `schedulers` warp schedulers per SM. A tile of m x n issues 1 + loads
/// / m + loads / n instructions per multiply-add, and w waves of a scheduler reach w / (w + waiting_waves) of the issue
/// rate.
struct SimtCosts {
    int schedulers = 4;
    double loads = 16, waiting_waves = 1;
};

/// Costs of Stem in cycles. filters, words: SMEM reads of the filters and of the windows for 16 indices of GemmK.
/// box: per TMA load of a row of x, if each row has its own.
struct StemCosts {
    double filters = 0, words = 0, box = 0;
};

/// Costs of weight gradients on sm_90a's tensor cores, in cycles unless a comment names another unit. Members whose
/// names end in accumulators are per thousand accumulators of a tile.
struct WeightCosts {
    /// bytes that an SM reads from L2 per cycle, without clusters and in clusters of 5 CTAs and more
    double cache_bytes = 1, cluster_cache_bytes = 1;
    /// the same of all SMs together, at most max_cache_bytes each, without clusters; factor for windows that overlap,
    /// if x and dy have fewer bytes than cache_size
    double cache_bytes_of_all = 0, max_cache_bytes = 1, window_cache = 1, cache_size = 0;
    double reread = 1, reread_size = 0;  ///< factor on the reads of tiles of 64 x 64, if x and dy have more bytes
    double copied_pixel = 0, copied_window = 0;  ///< cycles of a TMA copy of rows, per pixel; cycles of an im2col copy
    double partial_pixel = 0;  ///< the same of rows that are partly out of bounds
    double memory_bytes = 1;  ///< bytes of memory per cycle
    double tile = 0, accumulators = 0;  ///< cycles per round in addition to its k-tiles
    double cluster = 0, cluster_accumulators = 0;  ///< exchange of accumulators within a cluster
    /// addition of accumulators through workspace; merge_accumulators is per group of CTAs
    double merge = 0, merge_accumulators = 0;
    double turn = 0;  ///< cycles until the next group of CTAs adds its accumulators, if the groups add in sequence
    double reused = 0, reused_turn = 0;  ///< of tiles that use the same workspace one after the other, and per group
    double overlap = 0;  ///< share of the shorter of k-tiles and memory that adds to the longer
    double persistent = 0, persistent_accumulators = 0;  ///< cycles of PersistentWeights in addition to these
    double persistent_overlap = 0;  ///< `overlap` of PersistentWeights
    /// factor on the cycles of k-tiles in clusters, whose CTAs read different pixels, of more bytes than cache_size
    double cluster_streamed = 1;
    double persistent_latency = 0;  ///< cycles of a TMA load of PersistentWeights from memory
    double one_warpgroup = 1;  ///< factor on the cycles of MMAs if one of several warpgroups issues all
};

/// Fraction of the SMs on which no cluster of 8 CTAs (1 / of_8) or of 4 CTAs (1 / of_4) can run.
struct IdleInClusters {
    int of_8 = 1, of_4 = 1;
};

/// Least number of output channels per group for tensor cores; with fewer, most columns of an MMA instruction are
/// unused.
inline constexpr std::int64_t min_matrix_channels = 16;

/// Largest number of output channels per group for which Direct is selected, because most of a tile would be empty.
inline constexpr std::int64_t direct_max_group_channels = 4;

/// Largest number of outputs, and least number of taps, of a depthwise convolution for which Direct is selected instead
/// of Depthwise's loop over taps, which takes 0.85 us per tap and wave of threads; Direct takes 2 us, and per million
/// outputs 20 us and 1.2 us per tap: an H200, 97-28-28 of 3x3, 5x5 and 7x7 taps, batch 1 and 32.
inline constexpr std::int64_t direct_max_depthwise_outputs = std::int64_t{1} << 17, direct_min_depthwise_taps = 7;

/// Largest number of pixels for which FewPixelsWeightGradient is selected
/// (bench/results/h200/weight_gradient_choices.txt).
inline constexpr std::int64_t max_few_pixels = 64;

/// Threads per SM that saturate memory bandwidth. Small tensors are divided among at least this many threads per SM.
inline constexpr std::int64_t min_threads_per_processor = 1024;

/// Cycles in which an SM's sm_90a tensor cores multiply 64 rows x `columns` columns x 32 bytes of GemmK.
FUSEKIT_H constexpr double wgmma_cycles(double columns) { return columns / 2; }

/// Costs of all kinds of schedules, and the fraction of the peak memory bandwidth that kernels reach.
struct CostTable {
    Costs gemm, native, matrix, gathering_matrix, float_matrix, gathering_float_matrix, tf32_matrix, warp_specialized,
        warp_specialized_ping_pong, split_warp_specialized, halo, tiled_halo, streamed_halo, halo_bytes, halo_groups,
        halo_stored_groups, planes, planes_taps, shared_planes, shared_planes_taps, float_planes, float_planes_taps,
        float_pixels, float_pixels_taps, stem, direct, depthwise, depthwise_halo, grouped, grouped_planes, grouped_tma,
        gemv, gathered_planes, shared_gathered_planes, tall_gemm, transposed_gemv, transposed_tall_gemm, tall_planes,
        tall_planes_taps, float_tall_planes, float_tall_planes_taps, tma_planes, phased_halo, col2im, strip_halo,
        strip_halo_prologue;
    /// Costs that ChannelStatistics add to WarpSpecialized with cooperative and with ping-pong roles. Their costs per
    /// round apply only if each tile stores its own statistics.
    Costs totals, totals_ping_pong;
    Costs maxima;  ///< costs that Amax adds to Halo, whose tiles have gaps between rows
    SplitCosts split, matrix_split, bulk_split;
    TmaCosts tma;
    PackingCosts packing = {};
    SimtCosts simt = {};
    StemCosts stem_reads = {};
    WeightCosts weights = {};
    IdleInClusters idle;
    double transposed_filter = 0;  ///< cycles per weight that a CTA of TallGemm transposes
    double tall_planes_filters = 0;  ///< cycles in which a CTA of TallPlanes loads filters, per 64 indices of GemmK
    double phased_filter = 0;  ///< cycles per pair of weights that a CTA of PhasedHalo copies
    double memory_share = 0.85;
    double clock_share = 1;  ///< clock under load, as a fraction of the peak clock
};

/// Estimated seconds of a launch, and the resource that limits it.
struct Estimate {
    double seconds = infinite;
    Bound bound = Bound::latency;
    int split_k = 1;  ///< split-K factor: CTAs per tile; of WarpSpecialized, CTAs per tile of the last round

    static constexpr double infinite = 1e300;
    FUSEKIT_H constexpr bool is_finite() const { return seconds < infinite; }
};

/// Estimated time of a launch with the work `workload` that reads and writes `bytes` bytes of memory. With a the time
/// of the SMs and b the time of memory, the model is (a^4 + b^4)^(1/4), because the two overlap except at the start and
/// the end; for a = b this is 1.19 a.
FUSEKIT_H constexpr Estimate estimate(Workload const& workload, Costs const& costs, double bytes,
                                      CostTable const& table, GpuRates const& rates) {
    double const products = costs.step + costs.arithmetic * workload.arithmetic,
                 cache = workload.cache_bytes / rates.cache_bytes;
    double step = products;
    for (double const other : {cache, workload.copies, costs.min_step}) step = other > step ? other : step;
    double const steps = workload.rounds * workload.steps * step,
                 rest = costs.launch + workload.rounds * (costs.round + costs.output * workload.outputs) +
                        workload.exchanges;
    double const processors = (steps + rest) / (rates.clock * table.clock_share),
                 memory = bytes / (rates.memory_bytes * table.memory_share);
    double const longer = processors > memory ? processors : memory,
                 shorter = processors > memory ? memory : processors, share = longer > 0 ? shorter / longer : 0,
                 square = share * share;
    // approximates (1 + share^4)^(1/4) within 0.3 %
    double const more = 1 + square * square * (0.2467 - 0.0575 * square * square);
    Bound const bound = memory > processors                                            ? Bound::memory
                        : rest > steps || step > (products > cache ? products : cache) ? Bound::latency
                        : cache > products                                             ? Bound::cache
                        : costs.step > products - costs.step                           ? Bound::latency
                                                                                       : Bound::arithmetic;
    return {rates.launch + longer * more, bound};
}

}  // namespace fusekit::hip
