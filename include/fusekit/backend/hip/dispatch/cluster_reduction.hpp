// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "fusekit/backend/hip/mainloop/cluster_reduction.hpp"
#include "fusekit/backend/hip/runtime/gpu.hpp"
#include "fusekit/backend/hip/runtime/launch.hpp"
#include "fusekit/backend/hip/schedule/split.hpp"
#include "fusekit/backend/hip/tuning/policy.hpp"

namespace fusekit::hip::detail {

/// True if the plan has ClusterReducing kernels: all targets of the program have clusters, and results need the sums of
/// a channel, as in batch norm's training.
template <class Plan>
inline constexpr bool may_reduce_in_clusters = [] {
    using Steps = detail::ReductionSteps<typename Plan::Head>;
    return kernels_cluster && Steps::has_totals && Steps::waits && !Steps::per_pixel;
}();

FUSEKIT_H constexpr unsigned log2_of(unsigned power_of_two) {
    unsigned log = 0;
    while (power_of_two >> log > 1) ++log;
    return log;
}

/// True if the GPU can run clusters of max_large_cluster_blocks CTAs of this kernel. Queries the driver once per
/// device.
template <class Params>
FUSEKIT_H bool runs_large_clusters(Gpu const& gpu, Kernel<Params> const& kernel, KnownKernel& known) {
    return query_once(known, gpu.index(),
                      [&] { return allow_large_clusters(kernel.function, static_cast<unsigned>(kernel.threads)); });
}
// static, as kernel_of(): what is known belongs to the unit's host stub
template <class Plan, class Mainloop>
FUSEKIT_H static bool runs_large_clusters(Gpu const& gpu) {
    static KnownKernel known;
    return runs_large_clusters(gpu, kernel_of<Plan, Mainloop>(), known);
}

/// Prepares a launch of ClusterReducing, which keeps a segment in a cluster's registers, with vectors of `lanes`
/// elements. Empty if no segment fits the registers.
template <int lanes, Pattern pattern, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H std::optional<Result<Launch<ReductionParams<Plan, T, U>>>> prepare_in_clusters(
    Gpu const& gpu, ReductionParams<Plan, T, U> params) {
    using Steps = detail::ReductionSteps<typename Plan::Head>;
    using Schedule = ClusterReduction<Steps::has_operand ? 2 : 1, lanes* static_cast<int>(sizeof(Wider<T, U>))>;
    using Few = ClusterReducing<Plan, Schedule, T, U, lanes, pattern, Schedule::few>;
    using Many = ClusterReducing<Plan, Schedule, T, U, lanes, pattern, Schedule::many>;
    static_assert(sizeof(typename Few::Shared) <= 48 * 1024);
    if (!launches_clusters(gpu.architecture())) return {};
    Index<4> const shape = params.y.layout.shape;
    std::int64_t const plane = shape[2] * shape[3], images = shape[0];
    std::int64_t steps = images * plane;
    params.count = steps;
    params.steps = static_cast<unsigned>(steps);
    if constexpr (pattern == Pattern::planes) {
        std::int64_t const packets = divide_up(plane, lanes),
                           most = divide_up(plane + (plane % lanes ? lanes - 1 : 0), lanes);
        params.packets[0] = FastDivmod(static_cast<unsigned>(packets));
        params.packets[1] = FastDivmod(static_cast<unsigned>(most));
        params.steps = static_cast<unsigned>(images);
        steps = images * most;
    } else {
        params.columns = static_cast<unsigned>(shape[1] / lanes);
    }
    ClusterCut cut =
        cut_into_clusters<Schedule>(shape[1], params.columns, steps, max_large_cluster_blocks, gpu.processors());
    bool const large = cut.cluster > max_cluster_blocks,
               runs = !large || (cut.packets > Schedule::few ? runs_large_clusters<Plan, Many>(gpu)
                                                             : runs_large_clusters<Plan, Few>(gpu));
    if (!runs) cut = cut_into_clusters<Schedule>(shape[1], params.columns, steps, max_cluster_blocks, gpu.processors());
    if (cut.width == 0) return {};
    params.threads = Schedule::threads;
    params.width = cut.width;
    params.group_size = cut.cluster;
    params.width_log = log2_of(cut.width);
    params.group_size_log = log2_of(cut.cluster);
    params.segments = params.grid_groups = pattern == Pattern::planes
                                               ? static_cast<unsigned>(shape[1])
                                               : static_cast<unsigned>(divide_up(params.columns, cut.width));
    params.in_clusters = cut.cluster > 1;
    auto const prepare_on = [&]<class Mainloop>(std::type_identity<Mainloop>) {
        return prepare_launch<Plan, Mainloop>(
            gpu, params, std::int64_t{params.segments} * cut.cluster, Schedule::threads,
            cut.cluster > 1 ? LaunchMode::clusters : LaunchMode::plain, 0, cut.cluster);
    };
    if constexpr (Schedule::many > Schedule::few)
        if (cut.packets > Schedule::few) return prepare_on(std::type_identity<Many>{});
    return prepare_on(std::type_identity<Few>{});
}

}  // namespace fusekit::hip::detail
