// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/dispatch/product.hpp"
#include "fusekit/backend/hip/runtime/launch.hpp"
#include "fusekit/backend/hip/tuning/select.hpp"

namespace fusekit::hip {

/// Whether a launch may be of clusters here: the GPU has them, and so has all code of the program.
inline bool launches_clusters(Gpu const& gpu) {
    return kernels_cluster && with_tag(gpu.architecture(), []<class Tag>(Tag) { return Tag::processor.has_clusters; });
}

/// Prepares a plan with a Conv on tiles that params.parts.count neighbouring blocks share: clusters, or blocks that run
/// at once and exchange sums in workspace.
template <class Schedule, class Plan, class Mainloop>
Result<Launch<typename Mainloop::Params>> prepare_parts(Gpu const& gpu, typename Mainloop::Params const& params,
                                                        std::int64_t tiles) {
    std::int64_t const blocks = tiles * params.parts.count, floats = blocks * Schedule::part_floats;
    bool const clusters = launches_clusters(gpu);
    auto const launch = prepare_launch<Plan, Mainloop>(
        gpu, params, blocks, Mainloop::threads, clusters ? LaunchMode::clusters : LaunchMode::cooperative,
        clusters ? 0 : GroupWorkspace::state_bytes + static_cast<std::size_t>(floats) * sizeof(float));
    if (!launch) return launch.error();
    auto in_clusters = *launch;
    in_clusters.cluster = params.parts.count;
    return in_clusters;
}

/// A product that is to be shared along GemmK as `tile` says, and may borrow `workspace_bytes`. Blocks that wait for
/// each other without being clusters have a processor each.
inline SplitProduct split_product(Gpu const& gpu, SplitCut const& tile, Index<4> const& weights,
                                  detail::GroupedProduct const& product, std::size_t workspace_bytes) {
    bool const clusters = launches_clusters(gpu);
    std::int64_t most_blocks = std::int64_t{1} << 31;
    if (!clusters) {
        std::size_t const bytes = workspace_bytes < most_workspace_bytes ? workspace_bytes : most_workspace_bytes;
        std::size_t const part_bytes = static_cast<std::size_t>(tile.m * tile.n) * sizeof(float);
        most_blocks = bytes < GroupWorkspace::state_bytes
                          ? 0
                          : static_cast<std::int64_t>((bytes - GroupWorkspace::state_bytes) / part_bytes);
        if (most_blocks > gpu.processors()) most_blocks = gpu.processors();
    }
    return {product.m,
            product.n,
            product.groups,
            weights[1] * weights[2] * weights[3],
            std::int64_t{tile.most_tiles} * gpu.processors(),
            most_blocks,
            clusters ? tile.cluster_cycles : tile.workspace_cycles};
}

}  // namespace fusekit::hip
