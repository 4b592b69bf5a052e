// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/collective/split_k.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/tuning/rates.hpp"
#include "fusekit/backend/hip/tuning/tile_costs.hpp"

namespace fusekit::hip::detail {

/// Limits of the CTAs that divide the items of an output tile: SMs, CTAs per cluster, bytes of workspace, and bytes of
/// one CTA's accumulators there.
struct GradientSplitLimits {
    std::int64_t processors, max_cluster;
    std::size_t workspace_bytes;
    std::int64_t tile_bytes;
};

/// CTAs that divide the items of each output tile. waves: rounds of resident CTAs; resident: CTAs on an SM in a round.
struct GradientSplit {
    std::int64_t cluster, groups, waves, resident;

    FUSEKIT_H std::int64_t count() const { return cluster * groups; }
    /// Cycles that the CTAs of a tile take to add their accumulators.
    FUSEKIT_H double merge_cycles(std::int64_t tile_bytes) const {
        using Costs = GradientSplitCosts;
        double const bytes = static_cast<double>(tile_bytes);
        return (cluster > 1 ? Costs::cluster + bytes / Costs::cluster_bytes : 0) +
               (groups > 1 ? Costs::groups + Costs::group * static_cast<double>(groups) +
                                 bytes * static_cast<double>(groups) / static_cast<double>(cluster) / Costs::group_bytes
                           : 0);
    }
};

/// Calls use(split) for ways to divide `items` items of each of `tiles` output tiles, with `blocks` CTAs on an SM: the
/// most resident CTAs in clusters of 8, 4, 2 and 1.
template <class Use>
FUSEKIT_H void for_each_split(GradientSplitLimits const& limits, std::int64_t tiles, std::int64_t items,
                              std::int64_t blocks, Use const& use) {
    constexpr std::size_t states = GroupWorkspace::state_bytes;
    std::int64_t const max_groups =
        limits.workspace_bytes < states
            ? 1
            : static_cast<std::int64_t>(limits.workspace_bytes - states) / (tiles * limits.tile_bytes);
    for (std::int64_t cluster = limits.max_cluster; cluster > 0; cluster /= 2) {
        std::int64_t const resident = resident_clusters(limits.processors, blocks, cluster),
                           at_once = resident > 0 ? resident : 1;
        std::int64_t groups = at_once / tiles;
        if (groups > max_groups) groups = max_groups;
        if (std::int64_t const most = divide_up(items, cluster); groups > most) groups = most;
        if (groups < 1 || tiles * cluster > std::int64_t{GroupWorkspace::max_grid_groups}) groups = 1;
        std::int64_t const of_sm = divide_up(tiles * groups * cluster, limits.processors);
        use(GradientSplit{cluster, groups, divide_up(tiles * groups, at_once), of_sm < blocks ? of_sm : blocks});
    }
}

}  // namespace fusekit::hip::detail
