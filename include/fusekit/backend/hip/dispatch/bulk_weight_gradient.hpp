// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/bulk_maps.hpp"
#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/dispatch/split.hpp"
#include "fusekit/backend/hip/mainloop/bulk_weight_gradient.hpp"
#include "fusekit/backend/hip/tuning/select.hpp"
#include "fusekit/backend/hip/tuning/weight_gradient.hpp"

namespace fusekit::hip {

namespace detail {

template <class Plan, Element T, detail::OutputElement U>
FUSEKIT_H WeightProduct weight_product(WeightGradientParams<Plan, T, U> const& params) {
    auto const& head = params.bound.head;
    Index<4> const &dy = head.dy.layout.shape, &dw = params.y.layout.shape;
    return {dw[0], dw[2] * dw[3] * divide_up(dw[1], weight_block) + head.bias_gradient.given(), dy[0] * dy[2] * dy[3],
            !is_single_pixels(Plan::Head::geometry(head)),
            (params.x.layout.size() + head.dy.layout.size()) * static_cast<std::int64_t>(sizeof(T))};
}

}  // namespace detail

/// Returns the launch of a weight gradient with one schedule. split_k.count() CTAs compute one tile of dw, each over
/// its range of the pixels to be summed. Empty if TMA cannot load an operand's layout, or if the program or the GPU
/// lacks the kernel.
template <class Schedule, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H detail::Maybe<Launch<WeightGradientParams<Plan, T, U>>> launch_bulk_weight_gradient(
    Gpu const& gpu, WeightGradientParams<Plan, T, U> params, SplitKGroups const& split_k) {
    using Mainloop = BulkWeightGradient<Plan, Schedule, T, U>;
    constexpr int block = weight_block, pixels = Schedule::pixels;
    auto const kernel = kernel_of<Plan, Mainloop>();
    if (!kernel.is_launchable(gpu.index())) return {};
    Refusal refusal;
    DeviceGuard const guard(gpu.index(), &refusal);
    auto const filter = Plan::Head::geometry(params.bound.head);
    auto const dy = detail::typed<T>(params.bound.head.dy);
    auto& maps = params.maps;
    auto const& x = params.x;
    bool const single = detail::is_single_pixels(filter) && !detail::unmet_by_pixels(x.layout, x.data, sizeof(T));
    if (detail::first_unmet(detail::unmet_by_pixels(dy.layout, dy.data, sizeof(T)),
                            detail::unmet_by_tma(x.layout, x.data, sizeof(T)), detail::unmet_by_im2col(filter)))
        return {};
    maps.has_windows = !(single && detail::encode_pixels(maps.x, x, block, pixels));
    maps.in_use = !refusal && detail::encode_pixels(maps.dy, dy, block, pixels) &&
                  (!maps.has_windows || detail::encode_windows(maps.x, x, filter, block, pixels));
    if (!maps.in_use) return {};
    WeightProduct const product = detail::weight_product(params);
    std::int64_t const tiles = product.tiles<Schedule>(), steps = detail::divide_up(product.pixels, pixels);
    params.split_k = split_k;
    params.split_pixels = static_cast<int>(detail::divide_up(steps, split_k.count())) * pixels;
    auto const launch = prepare_launch(
        gpu, kernel, params, tiles * split_k.count(), split_k.cluster > 1 ? LaunchMode::clusters : LaunchMode::plain,
        split_k.groups > 1 ? GroupWorkspace::state_bytes + static_cast<std::size_t>(tiles * split_k.stored_groups()) *
                                                               Mainloop::Accumulators::floats * sizeof(float)
                           : 0,
        split_k.cluster);
    if (!launch) return {};
    return *launch;
}

/// Returns the launch of a weight gradient on sm_90a's tensor cores with the tuning table's schedule of the shortest
/// estimated time, and a workspace of at most `workspace_bytes`. Empty if no schedule can be launched.
template <class Plan, Element T, detail::OutputElement U>
FUSEKIT_H detail::Maybe<Launch<WeightGradientParams<Plan, T, U>>> prepare_bulk_weight_gradient(
    Gpu const& gpu, WeightGradientParams<Plan, T, U> const& params, std::size_t workspace_bytes) {
    auto const filter = Plan::Head::geometry(params.bound.head);
    if (!detail::is_sm90a(gpu) || filter.group_count != 1) return {};
    WeightProduct const product = detail::weight_product(params);
    SharingLimits const limits{gpu.processors(), launches_clusters(gpu) ? NvidiaTuning::max_gradient_cluster : 1,
                               workspace_bytes};
    return [&]<class... Schedules>(List<Schedules...> table) {
        WeightShares const shares[] = {share_pixels<Schedules>(product, limits, NvidiaTuning::costs.weights)...};
        int best = 0;
        for (int i = 1; i < static_cast<int>(sizeof...(Schedules)); ++i)
            if (shares[i].cycles < shares[best].cycles) best = i;
        return with_entry(table, best, [&]<class Schedule>(Schedule) {
            return launch_bulk_weight_gradient<Schedule>(gpu, params, shares[best].split_k);
        });
    }(WeightTable<NvidiaTuning, detail::is_single_pixels(Plan::Head::collapsed)>{});
}

}  // namespace fusekit::hip
