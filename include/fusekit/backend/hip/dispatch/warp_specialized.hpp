// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/conv_limits.hpp"
#include "fusekit/backend/hip/dispatch/halo.hpp"
#include "fusekit/backend/hip/dispatch/split.hpp"
#include "fusekit/backend/hip/dispatch/tiles.hpp"
#include "fusekit/backend/hip/mainloop/split_warp_specialized.hpp"
#include "fusekit/backend/hip/runtime/launch.hpp"
#include "fusekit/backend/hip/tuning/select.hpp"

namespace fusekit::hip {

namespace detail {

/// The mainloop of a schedule of bulk copies: one for all numbers of parts.
template <class Schedule, class Plan, Element T, OutputElement U>
struct BulkMainloop {
    using Type = WarpSpecializedGemm<Plan, Schedule, T, U>;
};
template <SplitSchedule Schedule, class Plan, Element T, OutputElement U>
struct BulkMainloop<Schedule, Plan, T, U> {
    using Type = SplitWarpSpecializedGemm<Plan, Split<typename Schedule::Whole>, T, U>;
};

/// What a kernel for sm_90a is given; nothing where an operand does not lie as its bulk copies need it, or the
/// program or the GPU has no such kernel.
template <class Plan, Element T, detail::OutputElement U>
FUSEKIT_H detail::Maybe<Launch<ConvParams<Plan, T, U>>> launch_bulk_kernel(
    Gpu const& gpu, ScheduleFacts const& schedule, Kernel<ConvParams<Plan, T, U>> const& kernel,
    BoundPlan<Plan> const& bound, ImageView<T const> const& x, ImageView<U> const& y, [[maybe_unused]] int parts) {
    ConvParams<Plan, T, U> params{bound, x, y};
    if (!kernel.is_launchable(gpu.index())) return {};
    Refusal refusal;
    DeviceGuard const guard(gpu.index(), &refusal);
    auto const w =
        detail::typed<typename Plan::Head::template WeightElement<T>>(Plan::Head::filters(params.bound.head));
    auto const filter = detail::window_filter(Plan::Head::geometry(params.bound.head));
    if (refusal ||
        !encode(params.maps, params.x, w, params.y, filter, schedule.m, schedule.n, has_transposed_conv<Plan>))
        return {};
    if constexpr (reads_in_bulk<Plan, T, U>)
        if (!encode_read<typename Plan::Epilogue>(
                params.read, params.bound.epilogue, params.y, [&](TensorMap& map, auto const& z) {
                    return encode_pixels(map, z, 64, static_cast<std::uint32_t>(schedule.m));
                }))
            return {};
    Index<4> const of_y = y.layout.shape;
    std::int64_t const columns = detail::divide_up(of_y[1], schedule.n),
                       tiles = detail::divide_up(of_y[0] * of_y[2] * of_y[3], schedule.m) * columns;
    if constexpr (has_split<Plan, T>)
        if (schedule.splits) {
            if (!launches_clusters(gpu)) return {};
            params.parts.count = static_cast<unsigned>(parts);
            return *prepare_parts(gpu, kernel, params, schedule, tiles);
        }
    std::int64_t const most = std::int64_t{gpu.processors()} * schedule.blocks;
    // Clusters fill one part of a GPU after another, and so bring neighbours together, which share an operand: all
    // blocks in pairs take 0.96 to 1.0 of the time on an H100. Fewer than its processors lose up to a fifth so.
    bool const in_pairs = launches_clusters(gpu) && most % 2 == 0 && tiles >= most;
    return *prepare_launch(gpu, kernel, params, tiles < most ? tiles : most,
                           in_pairs ? LaunchMode::clusters : LaunchMode::plain,
                           Plan::totals_tiles ? GridShares::workspace_bytes : 0, in_pairs ? 2 : 1);
}
template <class Schedule, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H detail::Maybe<Launch<ConvParams<Plan, T, U>>> launch_warp_specialized(Gpu const& gpu,
                                                                                BoundPlan<Plan> const& bound,
                                                                                ImageView<T const> const& x,
                                                                                ImageView<U> const& y, int parts) {
    using Mainloop = typename BulkMainloop<Schedule, Plan, T, U>::Type;
    return launch_bulk_kernel(gpu, facts_of<Schedule>(), kernel_of<Plan, Mainloop>(), bound, x, y, parts);
}

}  // namespace detail

/// Prepares a plan with one schedule for sm_90a's matrix units.
template <class Schedule, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<ConvParams<Plan, T, U>>> prepare_warp_specialized_with(Gpu const& gpu,
                                                                               BoundPlan<Plan> const& bound,
                                                                               detail::ImageView<T const> const& x,
                                                                               detail::ImageView<U> const& y,
                                                                               int parts) {
    if constexpr (has_warp_specialized<Plan, T, U>)
        if (detail::is_sm90a(gpu))
            if (auto const launch = detail::launch_warp_specialized<Schedule>(gpu, bound, x, y, parts)) return *launch;
    return Error(
        type_name<Plan>(), "WarpSpecialized", "",
        "a GPU of compute capability 9.0, code for sm_90a, y of x's type, or of 16 bits where x has 8, weights "
        "whose rows of taps follow one another where y has 8, and x, weights and y whose channels are "
        "neighbours and all else at multiples of 16 bytes, which a pixel's channels of y fill",
        gpu.name() + ", x of strides " + detail::strides_of(x.collapsed_layout()) + ", y of " + to_string(y.shape()) +
            " and strides " + detail::strides_of(y.collapsed_layout()));
}

}  // namespace fusekit::hip
