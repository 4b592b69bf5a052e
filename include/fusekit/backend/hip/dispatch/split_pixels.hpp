// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/collective/split_k.hpp"
#include "fusekit/backend/hip/dispatch/split.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/runtime/launch.hpp"
#include "fusekit/backend/hip/tuning/gradient_splits.hpp"

namespace fusekit::hip::detail {

/// Chooses how many CTAs divide the pixels of dy for each tile, so that `tiles` tiles occupy `blocks` CTAs: clusters if
/// available, times groups of CTAs (SplitKGroups) that add their accumulators through workspace, `split_bytes` per CTA,
/// in `passes` passes.
FUSEKIT_H inline SplitKGroups choose_split_k(bool clusters, std::int64_t tiles, int passes, std::int64_t blocks,
                                             std::int64_t max_splits, std::int64_t split_bytes,
                                             std::size_t workspace_bytes) {
    auto const least = [](std::int64_t a, std::int64_t b) { return a < b ? a : b; };
    std::int64_t const wanted = least(divide_up(blocks, tiles), max_splits);
    std::int64_t const cluster = clusters ? least(wanted, max_cluster_blocks) : 1;
    std::int64_t groups = divide_up(wanted, cluster);
    constexpr std::size_t states = GroupWorkspace::state_bytes;
    std::int64_t const max_groups =
        workspace_bytes < states ? 0 : static_cast<std::int64_t>(workspace_bytes - states) / (tiles * split_bytes);
    if (tiles * passes * cluster > static_cast<std::int64_t>(GroupWorkspace::max_grid_groups)) groups = 1;
    groups = least(groups, max_groups > 1 ? max_groups : 1);
    return {{}, static_cast<unsigned>(cluster), static_cast<unsigned>(groups)};
}

FUSEKIT_H inline GradientSplitLimits split_limits(Gpu const& gpu, std::size_t workspace_bytes,
                                                  std::int64_t tile_bytes) {
    return {gpu.processors(), launches_clusters(gpu) ? std::int64_t{max_cluster_blocks} : 1, workspace_bytes,
            tile_bytes};
}

/// Prepares a launch of a weight gradient with a GradientSplit of `tiles` output tiles.
template <class Params>
FUSEKIT_H Result<Launch<Params>> prepare_split_gradient(Gpu const& gpu, Kernel<Params> const& kernel, Params& params,
                                                        std::int64_t tiles, GradientSplit const& split,
                                                        std::int64_t tile_bytes) {
    params.split_k.cluster = static_cast<unsigned>(split.cluster);
    params.split_k.groups = static_cast<unsigned>(split.groups);
    return prepare_launch(
        gpu, kernel, params, tiles * split.count(), split.cluster > 1 ? LaunchMode::clusters : LaunchMode::plain,
        split.groups > 1 ? GroupWorkspace::state_bytes + static_cast<std::size_t>(tiles * split.groups * tile_bytes)
                         : 0,
        params.split_k.cluster);
}

}  // namespace fusekit::hip::detail
