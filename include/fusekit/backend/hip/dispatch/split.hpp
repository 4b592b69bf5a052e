// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/product.hpp"
#include "fusekit/backend/hip/runtime/launch.hpp"
#include "fusekit/backend/hip/schedule/split.hpp"

namespace fusekit::hip {

FUSEKIT_H inline bool launches_clusters(Gpu const& gpu) { return launches_clusters(gpu.architecture()); }

/// Prepares a launch of a Conv or Gemm with split-K: params.split_k.count consecutive CTAs compute one tile, each over
/// its range of GemmK. The CTAs of a tile form a cluster, or are co-resident and exchange accumulators through
/// workspace.
template <class Params>
FUSEKIT_H Result<Launch<Params>> prepare_split_k(Gpu const& gpu, Kernel<Params> const& kernel, Params const& params,
                                                 ScheduleFacts const& schedule, std::int64_t tiles) {
    std::int64_t const blocks = tiles * params.split_k.count, floats = blocks * schedule.m * schedule.n;
    bool const clusters = launches_clusters(gpu);
    return prepare_launch(gpu, kernel, params, blocks, clusters ? LaunchMode::clusters : LaunchMode::cooperative,
                          clusters ? 0 : GroupWorkspace::state_bytes + static_cast<std::size_t>(floats) * sizeof(float),
                          params.split_k.count);
}

}  // namespace fusekit::hip
