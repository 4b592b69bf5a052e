// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/dispatch/product.hpp"
#include "fusekit/backend/hip/runtime/launch.hpp"
#include "fusekit/backend/hip/tuning/select.hpp"

namespace fusekit::hip {

/// Whether a launch may be of clusters on such a GPU: it has them, and so has all code of the program.
inline bool launches_clusters(Architecture architecture) {
    return kernels_cluster && with_tag(architecture, []<class Tag>(Tag) { return Tag::processor.has_clusters; });
}
inline bool launches_clusters(Gpu const& gpu) { return launches_clusters(gpu.architecture()); }

/// Prepares a plan with a Conv on tiles that params.parts.count neighbouring blocks share: clusters, or blocks that run
/// at once and exchange sums in workspace.
template <class Schedule, class Plan, class Mainloop>
Result<Launch<typename Mainloop::Params>> prepare_parts(Gpu const& gpu, typename Mainloop::Params const& params,
                                                        std::int64_t tiles) {
    std::int64_t const blocks = tiles * params.parts.count, floats = blocks * Schedule::tile_m * Schedule::tile_n;
    bool const clusters = launches_clusters(gpu);
    auto const launch = prepare_launch<Plan, Mainloop>(
        gpu, params, blocks, Mainloop::threads, clusters ? LaunchMode::clusters : LaunchMode::cooperative,
        clusters ? 0 : GroupWorkspace::state_bytes + static_cast<std::size_t>(floats) * sizeof(float));
    if (!launch) return launch.error();
    auto in_clusters = *launch;
    in_clusters.cluster = params.parts.count;
    return in_clusters;
}

}  // namespace fusekit::hip
