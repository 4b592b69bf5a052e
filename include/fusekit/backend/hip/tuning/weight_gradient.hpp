// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/collective/split_k.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/schedule/bulk_weights.hpp"
#include "fusekit/backend/hip/tuning/policy.hpp"

namespace fusekit::hip {

/// GEMM of a weight gradient, for the cost model: `channels` channels of y x `blocks` blocks of 64 columns (a column is
/// a tap and a channel of x), plus one block for the bias gradient, reduced over `pixels` pixels; `bytes`: bytes of x,
/// dy and dw. has_windows: TMA loads x in im2col mode. group_channels: channels of a group, of x and of y; 0 without
/// groups. phases: if above 1, the number of CTAs that divide a tile's pixels is a multiple of it, and `pixels` are
/// those of one phase (WeightGradientMaps).
struct WeightProduct {
    std::int64_t channels, blocks, pixels;
    bool has_windows;
    std::int64_t bytes = 0;
    int group_channels = 0, phases = 1;
    int x_channels = 64;  ///< channels of x per tap

    /// Channels of y in a tile.
    template <class Schedule>
    FUSEKIT_H int rows() const {
        return group_channels > 0 ? grouped_rows(Schedule::rows, group_channels) : Schedule::rows;
    }
    template <class Schedule>
    FUSEKIT_H std::int64_t tiles() const {
        return detail::divide_up(channels, rows<Schedule>()) * detail::divide_up(blocks, Schedule::columns / 64);
    }
    /// Share of the blocks of 64 of these channels that are partly out of bounds; blocks of 32 channels count less.
    FUSEKIT_H static double partial(std::int64_t channels) {
        double const share = channels % 64 == 0 ? 0 : channels % 32 == 0 ? 0.75 : 1;
        return share / static_cast<double>(detail::divide_up(channels, 64));
    }
    /// Number of k-tiles of the pixels of a phase.
    template <class Schedule>
    FUSEKIT_H std::int64_t steps() const {
        return detail::divide_up(pixels, Schedule::pixels);
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

    SplitKGroups split_k = {};
    double cycles = never;
};

/// Bytes that each of `active` SMs reads from L2 per cycle, with clusters of `cluster` CTAs: fewer in larger clusters,
/// whose CTAs read different pixels. overlap: CTAs that run at once read windows that overlap.
FUSEKIT_H inline double cache_bytes(unsigned cluster, std::int64_t active, bool overlap, WeightCosts const& costs) {
    constexpr double shares[] = {1, 0.71, 0.54, 0.42, 0.42};
    double const all = costs.cache_bytes_of_all / static_cast<double>(active),
                 share = cluster <= 5 ? shares[cluster - 1] : 0,
                 single = all > costs.cache_bytes ? all : costs.cache_bytes,
                 bytes = cluster == 1
                             ? single < costs.max_cache_bytes ? single : costs.max_cache_bytes
                             : costs.cluster_cache_bytes + share * (costs.cache_bytes - costs.cluster_cache_bytes);
    return bytes * (overlap ? costs.window_cache : 1);
}

/// Cycles of a k-tile: the maximum of its MMAs, its reads from L2 and its TMA copies. active: CTAs that run at once;
/// one_round: these are all CTAs.
template <class Schedule>
FUSEKIT_H double weight_step_cycles(WeightProduct const& of, unsigned cluster, std::int64_t active, bool one_round,
                                    WeightCosts const& costs) {
    auto const held = [](std::int64_t blocks, int most) { return static_cast<double>(blocks < most ? blocks : most); };
    double const rows = held(detail::divide_up(of.channels, 64), of.rows<Schedule>() / 64),
                 columns = held(of.blocks, Schedule::columns / 64), pixels = Schedule::pixels;
    // small tiles read each operand many times, in part from memory if it exceeds L2
    bool const rereads =
        Schedule::rows * Schedule::columns <= 64 * 64 && static_cast<double>(of.bytes) > costs.reread_size;
    double const reread = rereads ? costs.reread : 1;
    bool const overlap = of.has_windows && static_cast<double>(of.bytes) < costs.cache_size &&
                         (of.group_channels > 0 ? cluster == 1 : one_round && cluster > 1);
    double const products = rows * wgmma_cycles(Schedule::columns) * pixels / 16 *
                            (rows == 1 && Schedule::warpgroups > 1 ? costs.one_warpgroup : 1),
                 bytes = reread * (rows + columns) * 128 * pixels / cache_bytes(cluster, active, overlap, costs),
                 // TMA copies of a block of x and of dy, whole and partly out of bounds
        partial_x = of.partial(of.x_channels) * costs.partial_pixel * pixels,
                 of_x = of.has_windows ? costs.copied_window : costs.copied_pixel * pixels,
                 of_dy = (costs.copied_pixel + of.partial(of.channels) * costs.partial_pixel) * pixels,
                 copies = rows * of_dy + columns * (of_x > partial_x ? of_x : partial_x);
    double const longer = products > bytes ? products : bytes,
                 streamed =
                     cluster > 1 && static_cast<double>(of.bytes) > costs.cache_size ? costs.cluster_streamed : 1;
    return streamed * (longer > copies ? longer : copies);
}

/// Cycles of k-tiles and of memory accesses that run at once: the longer, and a share of the shorter.
FUSEKIT_H constexpr double longer_of(double steps, double memory, double share) {
    return steps > memory ? steps + share * memory : memory + share * steps;
}

/// Estimated cycles of a weight gradient whose tiles' pixels are divided as `split` says; `never` if a CTA would reduce
/// more pixels than an unpromoted tile may. With SplitKGroups::held_tiles, the groups of the next tiles start in the
/// order in which those of the tiles before have added their sums.
template <class Schedule>
FUSEKIT_H double split_cycles(WeightProduct const& of, SplitKGroups const& split, SharingLimits const& limits,
                              WeightCosts const& costs) {
    constexpr double thousands = Schedule::rows * Schedule::columns / 1000.0;
    constexpr std::int64_t max_steps = Schedule::unpromoted_pixels / Schedule::pixels;
    std::int64_t const phases = of.phases > 1 ? of.phases : 1, tiles = of.tiles<Schedule>(), groups = split.groups,
                       cluster = split.cluster,
                       of_part = detail::divide_up(of.steps<Schedule>(), cluster * groups / phases),
                       at_once = resident_clusters(limits.processors, 1, split.cluster);
    if (at_once < 1 || (!Schedule::promotes && of_part > max_steps)) return WeightShares::never;
    std::int64_t const all_tiles = (split.held_tiles > 0 ? split.held_tiles : tiles) * groups,
                       active = (all_tiles < at_once ? all_tiles : at_once) * cluster;
    bool const one_round = split.held_tiles == 0 && all_tiles <= at_once;
    double const steps = static_cast<double>(of_part) *
                         weight_step_cycles<Schedule>(of, split.cluster, active, one_round, costs),
                 memory = static_cast<double>(of.bytes) / costs.memory_bytes,
                 tile = costs.tile + costs.accumulators * thousands +
                        (cluster > 1 ? costs.cluster + costs.cluster_accumulators * thousands : 0),
                 added = costs.merge_accumulators * thousands / static_cast<double>(cluster),
                 count = static_cast<double>(groups);
    if (split.held_tiles > 0) {
        double const batches = static_cast<double>(detail::divide_up(tiles, split.held_tiles)),
                     rounds = tiles * groups <= at_once ? 1 : batches,  // of k-loops
            all = rounds * steps + batches * (tile + 2 * added + costs.reused + costs.reused_turn * count);
        return longer_of(all, memory, costs.overlap);
    }
    double const rounds = static_cast<double>(detail::divide_up(tiles * groups, at_once)), all = rounds * steps,
                 merged = groups == 1         ? 0
                          : split.in_sequence ? costs.merge + added + (costs.turn + 2 * added) * (count - 1)
                                              : costs.merge + added * count;
    return longer_of(all, memory, costs.overlap) + rounds * (tile + merged);
}

/// Estimated cycles of a weight gradient by persistent CTAs (PersistentWeights), if it has few enough pixels.
template <class Schedule>
FUSEKIT_H double persistent_cycles(WeightProduct const& of, int processors, WeightCosts const& costs) {
    if (of.phases > 1 || of.has_windows || of.group_channels > 0 || of.pixels > Schedule::max_pixels)
        return WeightShares::never;
    std::int64_t const tiles = of.tiles<Schedule>(), active = tiles < processors ? tiles : processors,
                       waits = detail::divide_up(tiles, std::int64_t{processors} * Schedule::blocks) *
                                   of.steps<Schedule>() -
                               Schedule::stages;
    // k-tiles of a CTA beyond the stages: each waits until memory has filled the stage that it needs
    double const waited = waits > 0 ? static_cast<double>(waits) * costs.persistent_latency / Schedule::stages : 0;
    double const steps = static_cast<double>(detail::divide_up(tiles, processors) * of.steps<Schedule>()) *
                         weight_step_cycles<Schedule>(of, 1, active, true, costs),
                 memory = static_cast<double>(of.bytes) / costs.memory_bytes;
    double const overlapped = longer_of(steps, memory, costs.persistent_overlap);
    return costs.persistent + costs.persistent_accumulators * Schedule::rows * Schedule::columns / 1000.0 +
           (overlapped > waited ? overlapped : waited);
}

/// Chooses the number of CTAs that divide a tile's pixels, with the fewest estimated cycles: CTAs of one cluster, times
/// several clusters or CTAs that add their accumulators through workspace. If it does not hold the accumulators of all
/// of them, they add in sequence, which needs those of one per tile; if it does not hold those of all tiles, tiles have
/// them one after the other.
template <class Schedule>
FUSEKIT_H WeightShares share_pixels(WeightProduct const& of, SharingLimits const& limits, WeightCosts const& costs) {
    constexpr std::size_t states = GroupWorkspace::state_bytes;
    constexpr std::int64_t tile_bytes = std::int64_t{Schedule::rows} * Schedule::columns * 4;
    std::int64_t const tiles = of.tiles<Schedule>(), phases = of.phases > 1 ? of.phases : 1,
                       steps = of.steps<Schedule>() * phases;
    std::int64_t const max_sums =
        limits.workspace_bytes < states ? 0 : static_cast<std::int64_t>(limits.workspace_bytes - states) / tile_bytes;
    WeightShares best;
    for (unsigned cluster = 1; cluster <= limits.max_cluster && cluster <= steps; ++cluster) {
        std::int64_t const at_once = resident_clusters(limits.processors, 1, cluster),
                           states_of_tiles = std::int64_t{GroupWorkspace::max_grid_groups} / cluster;
        if (at_once < 1) break;
        for (std::int64_t groups = 1; cluster * groups <= steps; ++groups) {
            SplitKGroups split{{}, cluster, static_cast<unsigned>(groups)};
            split.in_sequence = groups > 1 && tiles * groups > max_sums;
            std::int64_t held = tiles;
            if (groups > 1 && !split.in_sequence && tiles > states_of_tiles) break;
            if (split.in_sequence) {
                for (std::int64_t const most : {max_sums, states_of_tiles, at_once / groups})
                    if (held > most) held = most;
                if (!Schedule::sequences || held == 0) break;
                if (held < tiles)  // as many tiles in the last batch as in the others
                    split.held_tiles = static_cast<unsigned>(detail::divide_up(tiles, detail::divide_up(tiles, held)));
            }
            if (cluster * groups % phases != 0) continue;
            double const cycles = split_cycles<Schedule>(of, split, limits, costs);
            if (cycles < best.cycles) best = {split, cycles};
        }
    }
    return best;
}

}  // namespace fusekit::hip
