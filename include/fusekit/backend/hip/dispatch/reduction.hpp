// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/cluster_reduction.hpp"
#include "fusekit/backend/hip/dispatch/elementwise.hpp"
#include "fusekit/backend/hip/dispatch/orders.hpp"
#include "fusekit/backend/hip/mainloop/reduction.hpp"
#include "fusekit/backend/hip/schedule/split.hpp"
#include "fusekit/plan/empty.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::hip {

namespace detail {

/// Grid of a reduction: `count` groups of CTAs (GridGroup) run concurrently, with `size` CTAs each. A segment is the
/// elements whose sums a group computes at a time: those of a channel, or of a range of columns (ReductionParams).
struct GridGroups {
    unsigned count, size;
};

/// Chooses the number of CTAs per group: at least `fewest`, and enough that L2 holds the segments that all groups read
/// concurrently; up to twice as many if more CTAs then have work during the last segments. Estimated time:
/// ceil(segments / groups) / (CTAs per group).
FUSEKIT_H inline GridGroups choose_grid_groups(std::int64_t segments, std::int64_t segment_bytes, std::int64_t blocks,
                                               std::int64_t fewest, std::int64_t max_group_size,
                                               std::int64_t cache_bytes) {
    if (detail::divide_up(blocks * segment_bytes, cache_bytes) > fewest)
        fewest = detail::divide_up(blocks * segment_bytes, cache_bytes);
    if (fewest > max_group_size) fewest = max_group_size;
    if (fewest > blocks) fewest = blocks;  // L2 is smaller than one segment
    if (fewest <= 1) return {static_cast<unsigned>(segments < blocks ? segments : blocks), 1};
    GridGroups best{1, 1};
    double shortest = 1e300;
    for (std::int64_t group_size = fewest;
         group_size <= 2 * fewest && group_size <= max_group_size && group_size <= blocks; ++group_size) {
        std::int64_t const at_once = blocks / group_size, grid_groups = at_once < segments ? at_once : segments;
        double const time =
            static_cast<double>(detail::divide_up(segments, grid_groups)) / static_cast<double>(group_size);
        if (time < shortest) {
            shortest = time;
            best = {static_cast<unsigned>(grid_groups), static_cast<unsigned>(group_size)};
        }
    }
    return best;
}

/// Width in bytes of a cluster's segment of columns: one sector, the unit in which L2 reads memory. The narrowest such
/// segments give the most clusters, and so occupy the most SMs.
inline constexpr std::int64_t cluster_row_bytes = 32;
/// Iterations of a thread's loop up to which a cluster reduces a segment. Larger tensors need the bandwidth of all SMs,
/// and their time hides the barrier of a grid group.
inline constexpr std::int64_t max_cluster_iterations = 4;

/// CTAs per cluster with which clusters reduce `segments` segments: a power of two up to max_cluster_blocks, enough to
/// occupy all SMs and to load a segment in one iteration, as long as each thread has a packet. `packets`: rows of a
/// segment; a CTA loads `rows` x `unroll` of them in an iteration. Returns 0 if a CTA needs more than
/// max_cluster_iterations iterations.
FUSEKIT_H inline unsigned choose_cluster(std::int64_t segments, std::int64_t packets, std::int64_t rows,
                                         std::int64_t unroll, std::int64_t processors) {
    unsigned cluster = 1;
    while (cluster < max_cluster_blocks && packets > rows * cluster &&
           (segments * cluster < processors || packets > rows * unroll * cluster))
        cluster *= 2;
    return detail::divide_up(packets, rows * unroll * cluster) <= max_cluster_iterations ? cluster : 0;
}

/// Prepares a launch of Reducing with vectors of `lanes` elements.
template <class Schedule, int lanes, Pattern pattern, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<ReductionParams<Plan, T, U>>> prepare_reducing(Gpu const& gpu,
                                                                       ReductionParams<Plan, T, U> params,
                                                                       IndexLimits const& limits) {
    using Mainloop = Reducing<Plan, Schedule, T, U, lanes, pattern, false>;
    using Steps = detail::ReductionSteps<typename Plan::Head>;
    using Total = typename Steps::template Total<float>;
    static_assert(sizeof(typename Mainloop::Shared) <= 48 * 1024);  // ensured by an assertion of ReductionEntry
    Index<4> const shape = params.y.layout.shape;
    std::int64_t const plane = shape[2] * shape[3], image = shape[1] * plane, unroll = Mainloop::unroll;
    params.count = Steps::per_pixel ? shape[0] : shape[0] * plane;

    // number of co-resident CTAs with the schedule's full number of threads
    std::int64_t const at_once = std::int64_t{gpu.processors()} * Mainloop::blocks;
    std::int64_t threads = Mainloop::threads, group_size = 0, segments = 0, steps = 0;
    auto const cut = [&](std::int64_t steps_of_image) {
        while (detail::divide_up(shape[0], params.slabs) * steps_of_image >= limits.steps && params.slabs < shape[0])
            params.slabs *= 2;
        params.slab_images = static_cast<unsigned>(detail::divide_up(shape[0], params.slabs));
    };
    if (!params.by_columns) {
        std::int64_t const packets = detail::divide_up(plane, lanes),
                           most = detail::divide_up(plane + (plane % lanes ? lanes - 1 : 0), lanes);
        params.packets[0] = FastDivmod(static_cast<unsigned>(packets));
        params.packets[1] = FastDivmod(static_cast<unsigned>(most));
        cut(most);
        segments = shape[1], steps = params.slab_images * most;
        auto const halves_threads = [&] {
            return threads / 2 * unroll >= steps && 2 * segments > at_once * Mainloop::threads / threads;
        };
        while (params.slabs == 1 && threads > 64 && halves_threads()) threads /= 2;
        group_size = detail::divide_up(steps, threads);
    } else {
        cut(Steps::per_pixel ? 1 : plane);
        steps = params.slab_images * (Steps::per_pixel ? 1 : plane);
        params.columns = static_cast<unsigned>((Steps::per_pixel ? image : shape[1]) / lanes);
        std::int64_t width = threads / power_of_two(detail::divide_up(steps, unroll));
        while (width > 8 && detail::divide_up(params.columns, width) < at_once) width /= 2;
        if (width < 8) width = 8;
        if (params.slabs > 1) width = max_width_of_parts;
        while (width > 1 && width / 2 >= params.columns) width /= 2;
        params.width = static_cast<unsigned>(width);
        segments = detail::divide_up(params.columns, width);
        group_size = detail::divide_up(steps, threads / width);
    }
    params.threads = static_cast<unsigned>(threads);
    params.segments = static_cast<unsigned>(segments);
    params.steps = pattern == Pattern::planes ? params.slab_images : static_cast<unsigned>(steps);

    constexpr std::int64_t floats_of_total = sizeof(Total) / sizeof(float);
    std::int64_t const segment_floats = params.width * std::int64_t{Mainloop::totals} * floats_of_total;
    std::int64_t const max_blocks = static_cast<std::int64_t>(GroupWorkspace::floats) / 2 / segment_floats;
    std::int64_t blocks = at_once * Mainloop::threads / threads;
    if (blocks > max_blocks) blocks = max_blocks;
    // Channels: few are reduced concurrently, so that their elements are in L2 in pass 2. Several CTAs reduce one
    // channel only if SMs would be idle otherwise, because a barrier of a grid group takes microseconds. Columns: all
    // are reduced concurrently.
    std::int64_t const segment_bytes =
        params.by_columns ? 0 : steps * lanes * std::int64_t{sizeof(T)} * (Steps::has_operand ? 2 : 1);
    std::int64_t const fewest = params.by_columns ? blocks / segments : detail::divide_up(gpu.processors(), segments);
    GridGroups choice = choose_grid_groups(segments, segment_bytes, blocks, fewest, group_size, gpu.cache_bytes());
    if constexpr (Steps::has_totals && Mainloop::may_cluster)
        if (choice.size > 1 && params.slabs == 1 && launches_clusters(gpu.architecture())) {
            std::int64_t width = params.by_columns ? cluster_row_bytes / (lanes * std::int64_t{sizeof(T)}) : 1;
            while (width > 1 && width / 2 >= params.columns) width /= 2;
            std::int64_t const narrow = params.by_columns ? detail::divide_up(params.columns, width) : segments;
            if (unsigned const cluster = choose_cluster(narrow, steps, threads / width, unroll, gpu.processors())) {
                choice = {static_cast<unsigned>(narrow), cluster};
                params.width = static_cast<unsigned>(width);
                params.segments = choice.count;
                params.in_clusters = cluster > 1;
            }
        }
    params.group_size = choice.size;
    params.grid_groups = choice.size == 1 ? params.segments : choice.count;
    std::int64_t groups = detail::divide_up(steps, choice.size * (threads / params.width) * unroll), part = groups;
    if (Steps::has_totals && params.width <= max_width_of_parts) {
        std::int64_t const values = unroll * (lanes / Mainloop::totals), most = max_parts(threads) / params.slabs;
        std::int64_t const wanted = power_of_two(detail::divide_up(groups * values, max_values_of_part));
        std::int64_t const parts = wanted < most ? wanted : most > 1 ? most : 1;
        params.slab_parts = static_cast<unsigned>(parts);
        part = detail::divide_up(groups, parts);
        groups = part * parts;
    }
    params.groups = static_cast<unsigned>(groups);
    params.part = static_cast<unsigned>(part);
    bool const cooperative = choice.size > 1 && Steps::has_totals && !params.in_clusters;
    std::int64_t const floats = std::int64_t{choice.count} * (std::int64_t{choice.size} + 1) * segment_floats;
    std::size_t const workspace_bytes =
        cooperative ? GroupWorkspace::state_bytes + static_cast<std::size_t>(floats) * sizeof(float) : 0;
    auto const prepare_on = [&]<class Kernel>(std::type_identity<Kernel>) {
        return prepare_launch<Plan, Kernel>(gpu, params, std::int64_t{params.grid_groups} * params.group_size,
                                            static_cast<int>(threads),
                                            cooperative          ? LaunchMode::cooperative
                                            : params.in_clusters ? LaunchMode::clusters
                                                                 : LaunchMode::plain,
                                            workspace_bytes, params.in_clusters ? choice.size : 1);
    };
    // True if sums over one range of elements are computed by the kernel for sums over several ranges (PairwiseTotals)
    // too: with Pattern::any, whose speed matters less.
    constexpr bool always = Steps::has_totals && pattern == Pattern::any;
    if constexpr (!always)
        if (part >= groups && params.slabs == 1) return prepare_on(std::type_identity<Mainloop>{});
    return prepare_on(std::type_identity<Reducing<Plan, Schedule, T, U, lanes, pattern, Steps::has_totals>>{});
}

/// Prepares a launch for sums over no elements, which are 0: each sum is one column, and one CTA stores it.
template <class Schedule, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<ReductionParams<Plan, T, U>>> prepare_empty_sums(Gpu const& gpu,
                                                                         ReductionParams<Plan, T, U> params,
                                                                         CollapsedShape<4> const& output) {
    using Steps = detail::ReductionSteps<typename Plan::Head>;
    using Mainloop = Reducing<Plan, Schedule, T, U, 1, Pattern::any, Steps::has_totals>;
    Index<4> const shape = params.y.layout.shape;
    std::int64_t const sums = Steps::per_pixel ? shape[1] * shape[2] * shape[3] : shape[1];
    if (Refusal refusal = refuse_limit(type_name<Plan>, "y", "an image of fewer than 2^31 elements", output, sums))
        return *refusal;
    constexpr int threads = 64;
    static_assert(threads <= Mainloop::threads);
    params.by_columns = true;
    params.columns = params.segments = params.grid_groups = static_cast<unsigned>(sums);
    params.threads = threads;
    return prepare_launch<Plan, Mainloop>(gpu, params, sums, threads);
}

}  // namespace detail

/// Prepares a launch of a plan whose head is a reduction with one schedule. If `may_cluster`, with ClusterReducing
/// instead if the registers of a cluster can store a segment.
template <class Schedule, Orders orders = Orders::any, bool may_cluster = false, class Plan, Element T,
          detail::OutputElement U>
FUSEKIT_H Result<Launch<ReductionParams<Plan, T, U>>> prepare_reduction_with(Gpu const& gpu,
                                                                             BoundPlan<Plan> const& bound,
                                                                             detail::ImageView<T const> const& x,
                                                                             detail::ImageView<U> const& y,
                                                                             IndexLimits const& limits = {}) {
    using Steps = detail::ReductionSteps<typename Plan::Head>;
    constexpr int lanes = Schedule::bytes / static_cast<int>(sizeof(Wider<T, U>));
    bool const channels_are_last = orders == Orders::channels_last || channels_last(y.layout);
    if (detail::has_no_elements(y.layout.shape)) {
        ReductionParams<Plan, T, U> const params{bound, x, y, x, {}, true, {y.layout.shape, channels_are_last}};
        if (detail::writes_nothing(bound, y.layout.shape)) return launch_nothing(gpu, type_name<Plan>, params);
        return detail::prepare_empty_sums<Schedule>(gpu, params, y.shape());
    }
    std::int64_t const image = y.layout.size() / y.layout.shape[0];
    if (Refusal refusal = refuse_limit(type_name<Plan>, "y", "an image of fewer than 2^31 elements", y.shape(), image))
        return *refusal;
    ReductionParams<Plan, T, U> params{
        bound, x, y, x, {}, Steps::per_pixel || channels_are_last, {y.layout.shape, channels_are_last}};
    bool packets = problem::dense_alike(x.layout, y.layout) && detail::packets_are_aligned<lanes>(x, y);
    if constexpr (Steps::has_operand) {
        params.operand = detail::typed<T>(bound.head.x);
        packets = packets && problem::dense_alike(params.operand.layout, y.layout) &&
                  detail::packets_are_aligned<lanes>(params.operand, y);
    }
    // Only kernels with Pattern::any have a loop over ranges of images (slabs): with Pattern::planes, the loop spills
    // 48 bytes of registers on sm_90a.
    std::int64_t const images = y.layout.shape[0], plane = y.layout.shape[2] * y.layout.shape[3],
                       steps = Steps::per_pixel    ? 1
                               : params.by_columns ? plane
                                                   : detail::divide_up(plane, lanes) + 1;
    packets = packets && images * steps < limits.steps;
    std::int64_t const whole = params.by_columns && !Steps::per_pixel ? y.layout.shape[1] : image;
    constexpr bool clusters = may_cluster && detail::may_reduce_in_clusters<Plan>;
    if constexpr (clusters && lanes % 4 == 0)  // channels that are no whole number of packets
        if (packets && params.by_columns && whole % lanes != 0 && whole % (lanes / 4) == 0)
            if (auto launch = detail::prepare_in_clusters<lanes / 4, Pattern::columns>(gpu, params))
                return std::move(*launch);
    if (!packets || whole % lanes != 0) return detail::prepare_reducing<Schedule, 1, Pattern::any>(gpu, params, limits);
    if constexpr (!Steps::per_pixel && orders == Orders::any)
        if (!params.by_columns) {
            if constexpr (clusters)
                if (auto launch = detail::prepare_in_clusters<lanes, Pattern::planes>(gpu, params))
                    return std::move(*launch);
            return detail::prepare_reducing<Schedule, lanes, Pattern::planes>(gpu, params, limits);
        }
    if constexpr (clusters)
        if (auto launch = detail::prepare_in_clusters<lanes, Pattern::columns>(gpu, params)) return std::move(*launch);
    return detail::prepare_reducing<Schedule, lanes, Pattern::columns>(gpu, params, limits);
}

/// Prepares a launch of a plan whose head is a reduction with the schedule of the GPU's tuning table.
template <Orders orders = Orders::any, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<ReductionParams<Plan, T, U>>> prepare_reduction(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                                        detail::ImageView<T const> const& x,
                                                                        detail::ImageView<U> const& y,
                                                                        IndexLimits const& limits = {}) {
    return with_tuning(gpu.architecture(), [&]<class Tuning>(Tuning) {
        return prepare_reduction_with<DefaultReduction<Tuning, Wider<T, U>>, orders, true>(gpu, bound, x, y, limits);
    });
}

}  // namespace fusekit::hip
