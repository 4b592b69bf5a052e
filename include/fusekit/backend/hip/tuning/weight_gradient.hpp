// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/collective/split_k.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/schedule/bulk_weights.hpp"
#include "fusekit/backend/hip/tuning/policy.hpp"

namespace fusekit::hip {

/// GEMM of a weight gradient, for the cost model: `channels` channels of y x `blocks` blocks of 64 columns (a column is
/// a tap and a channel of x), plus one block for the bias gradient, reduced over `pixels` pixels; `bytes`: bytes of x
/// and dy. has_windows: TMA loads x in im2col mode.
struct WeightProduct {
    std::int64_t channels, blocks, pixels;
    bool has_windows;
    std::int64_t bytes = 0;

    template <class Schedule>
    FUSEKIT_H std::int64_t tiles() const {
        return detail::divide_up(channels, Schedule::rows) * detail::divide_up(blocks, Schedule::columns / 64);
    }
};

/// Limits on the CTAs that divide a tile's pixels among them: SMs, CTAs per cluster, and bytes of workspace.
struct SharingLimits {
    int processors;
    unsigned max_cluster;
    std::size_t workspace_bytes;
};

/// Number of CTAs that divide a tile's pixels, and the estimated cycles of the whole weight gradient with it.
struct WeightShares {
    static constexpr double never = 1e300;  ///< cycles if a CTA would have too many pixels

    SplitKGroups split_k;
    double cycles;
};

/// Cycles of a k-tile: the maximum of its MMAs, its reads from L2 and its TMA copies. L2 bandwidth is lower if
/// consecutive CTAs form a cluster, because they then read different pixels.
template <class Schedule>
FUSEKIT_H double weight_step_cycles(WeightProduct const& of, unsigned cluster, WeightCosts const& costs) {
    auto const held = [](std::int64_t blocks, int most) { return static_cast<double>(blocks < most ? blocks : most); };
    double const rows = held(detail::divide_up(of.channels, 64), Schedule::rows / 64),
                 columns = held(of.blocks, Schedule::columns / 64), pixels = Schedule::pixels;
    double const products = Schedule::rows / 64 * wgmma_cycles(Schedule::columns) * pixels / 16,
                 bytes =
                     (rows + columns) * 128 * pixels / (cluster == 1 ? costs.cache_bytes : costs.cluster_cache_bytes),
                 copies = (rows + (of.has_windows ? 0 : columns)) * costs.copied_pixel * pixels +
                          (of.has_windows ? costs.copied_window * columns : 0);
    double const longer = products > bytes ? products : bytes;
    return longer > copies ? longer : copies;
}

/// Number of co-resident clusters of `cluster` CTAs with one CTA per SM. A cluster runs within one GPC, of 16 SMs or
/// more; an H100's 132 SMs run 31 clusters of 4 CTAs or 15 of 8.
FUSEKIT_H constexpr std::int64_t clusters_at_once(int processors, unsigned cluster) {
    int const size = static_cast<int>(cluster), whole = processors > 24 ? processors - 8 : processors;
    return cluster <= 2 ? processors / size : whole / 16 * (16 / size) + whole % 16 / size;
}

/// Chooses the number of CTAs that divide a tile's pixels, with the fewest estimated cycles: CTAs of one cluster, times
/// several clusters or CTAs that add their accumulators through workspace. If it does not hold the accumulators of all
/// of them, they add in sequence, which needs those of one per tile, and co-resident CTAs. On an H100 the choice is
/// within 2 % of the best measured one (13 layers, batch 64, geometric mean); on an H200, with sequences and schedules
/// of several CTAs per SM, within 3 % (15 layers, batch 32 and 64).
template <class Schedule>
FUSEKIT_H WeightShares share_pixels(WeightProduct const& of, SharingLimits const& limits, WeightCosts const& costs) {
    constexpr std::size_t states = GroupWorkspace::state_bytes;
    constexpr std::int64_t tile_bytes = std::int64_t{Schedule::rows} * Schedule::columns * 4;
    constexpr double thousands = tile_bytes / 4000.0;
    constexpr bool has_blocks = Schedule::blocks > 1;
    std::int64_t const tiles = of.tiles<Schedule>(), steps = detail::divide_up(of.pixels, Schedule::pixels);
    std::int64_t const max_steps = Schedule::promotes ? steps : Schedule::unpromoted_pixels / Schedule::pixels;
    std::int64_t const max_groups =
        limits.workspace_bytes < states ? 0 : static_cast<std::int64_t>(limits.workspace_bytes - states) / tile_bytes;
    double const memory_takes = static_cast<double>(of.bytes) / costs.memory_bytes,
                 tile_takes = costs.tile + costs.accumulators * thousands *
                                               (has_blocks ? costs.shared_accumulators * Schedule::blocks : 1);
    WeightShares best{{}, WeightShares::never};
    unsigned const max_cluster = has_blocks ? 1 : limits.max_cluster;
    for (unsigned cluster = 1; cluster <= max_cluster && cluster <= steps; ++cluster) {
        std::int64_t const at_once = clusters_at_once(limits.processors, cluster) * Schedule::blocks;
        double const step = weight_step_cycles<Schedule>(of, cluster, costs) * Schedule::blocks;
        if (at_once < 1) break;
        bool const has_states = tiles * cluster <= std::int64_t{GroupWorkspace::max_grid_groups};
        for (std::int64_t groups = 1; cluster * groups <= steps; ++groups) {
            bool const in_sequence = tiles * groups > max_groups;
            if (groups > 1 && (has_blocks || !has_states || tiles > max_groups ||
                               (in_sequence && (!Schedule::sequences || tiles * groups > at_once))))
                break;
            std::int64_t const of_part = detail::divide_up(steps, cluster * groups);
            if (of_part > max_steps) continue;
            double const rounds = static_cast<double>(detail::divide_up(tiles * groups, at_once)),
                         steps_take = rounds * static_cast<double>(of_part) * step, count = static_cast<double>(groups),
                         added = costs.merge_accumulators * thousands / cluster,
                         merged = (cluster > 1 ? costs.cluster + costs.cluster_accumulators * thousands : 0) +
                                  (groups == 1   ? 0
                                   : in_sequence ? costs.merge + added + (costs.turn + 2 * added) * (count - 1)
                                                 : costs.merge + added * count),
                         cycles =
                             (steps_take > memory_takes ? steps_take : memory_takes) + rounds * (tile_takes + merged);
            if (cycles >= best.cycles) continue;
            best.split_k.cluster = cluster, best.split_k.groups = static_cast<unsigned>(groups);
            best.split_k.in_sequence = groups > 1 && in_sequence;
            best.cycles = cycles;
        }
    }
    return best;
}

}  // namespace fusekit::hip
