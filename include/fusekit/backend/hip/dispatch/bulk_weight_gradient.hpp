// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/bulk_maps.hpp"
#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/dispatch/persistent_weight_gradient.hpp"
#include "fusekit/backend/hip/dispatch/split.hpp"
#include "fusekit/backend/hip/mainloop/bulk_weight_gradient.hpp"
#include "fusekit/backend/hip/tuning/select.hpp"
#include "fusekit/backend/hip/tuning/weight_gradient.hpp"

namespace fusekit::hip {

namespace detail {

/// Number of pixels per row of the tensor maps of x and dy, for filters of one tap; 0 if TMA cannot load them as rows.
template <class T>
FUSEKIT_H int common_phases(TensorView<T const> const& x, TensorView<T const> const& dy) {
    int const of_x = phases_of(x.layout, x.data, sizeof(T)), of_dy = phases_of(dy.layout, dy.data, sizeof(T)),
              phases = of_x > of_dy ? of_x : of_dy;
    Extent const pixels = dy.layout.shape[0] * dy.layout.shape[2] * dy.layout.shape[3];
    return of_x == 0 || of_dy == 0 || pixels % phases != 0 ? 0 : phases;
}

template <class Plan, Element T, detail::OutputElement U>
FUSEKIT_H WeightProduct weight_product(WeightGradientParams<Plan, T, U> const& params) {
    auto const& head = params.bound.head;
    Index<4> const &dy = head.dy.layout.shape, &dw = params.y.layout.shape;
    int const phases = params.has_phases ? common_phases(params.x, typed<T>(head.dy)) : 1;
    int x_block = weight_block, dy_block = weight_block;
    if (phases > 1)
        x_block = shifted_block(pixel_stride(params.x.layout)), dy_block = shifted_block(pixel_stride(head.dy.layout));
    return {phases > 1 ? divide_up(dw[0], dy_block) * weight_block : dw[0],
            dw[2] * dw[3] * divide_up(dw[1], x_block) + head.bias_gradient.given(),
            dy[0] * dy[2] * dy[3] / (phases > 1 ? phases : 1), !is_single_pixels(params.filter()),
            (params.x.layout.size() + head.dy.layout.size()) * static_cast<std::int64_t>(sizeof(T)) +
                params.y.layout.size() * static_cast<std::int64_t>(sizeof(U)),
            Plan::Head::collapsed.group_count > 1 ? static_cast<int>(dw[1]) : 0, phases,
            // a block has channels of several groups if they have fewer than it
            static_cast<int>(Plan::Head::collapsed.group_count > 1 && dw[1] < weight_block ? dw[0] : dw[1])};
}

/// True if BulkWeightGradient computes convolutions with this filter and these channels of dw: with groups, as many
/// channels of x as of y in each, which divide 64, or which 64 divides.
FUSEKIT_H inline bool fits_bulk_groups(Filter<2> const& filter, Index<4> const& dw) {
    std::int64_t const channels = dw[1];
    return filter.group_count == 1 || (channels * filter.group_count == dw[0] && channels >= 4 &&
                                       (weight_block % channels == 0 || channels % weight_block == 0));
}

}  // namespace detail

/// Returns the launch of a weight gradient with one schedule. split_k.count() CTAs compute one tile of dw, each over
/// its range of the pixels to be summed. Empty if TMA cannot load an operand's layout, or if the program or the GPU
/// lacks the kernel.
template <class Schedule, class Plan, Element T, detail::OutputElement U>
[[gnu::cold]] FUSEKIT_H detail::Maybe<Launch<WeightGradientParams<Plan, T, U>>> launch_bulk_weight_gradient(
    Gpu const& gpu, WeightGradientParams<Plan, T, U> params, SplitKGroups const& split_k) {
    using Mainloop = BulkWeightGradient<Plan, Schedule, T, U>;
    constexpr int block = weight_block, pixels = Schedule::pixels;
    auto const kernel = kernel_of<Plan, Mainloop>();
    if (!kernel.is_launchable(gpu.index())) return {};
    Refusal refusal;
    DeviceGuard const guard(gpu.index(), &refusal);
    auto const filter = params.filter();
    auto const dy = detail::typed<T>(params.bound.head.dy);
    auto& maps = params.maps;
    auto const& x = params.x;
    WeightProduct const product = detail::weight_product(params);
    std::int64_t const steps = detail::divide_up(product.pixels, pixels);
    int phases = 0;
    if constexpr (WeightGradientParams<Plan, T, U>::has_phases && has_weight_store<U>) phases = product.phases;
    if (phases > 1 && split_k.count() % static_cast<unsigned>(phases) != 0) return {};
    if (phases > 0) {
        maps.phases = static_cast<unsigned>(phases);
        maps.x_step = static_cast<int>(detail::pixel_stride(x.layout));
        maps.dy_step = static_cast<int>(detail::pixel_stride(dy.layout));
        if (phases > 1)
            maps.x_block = detail::shifted_block(maps.x_step), maps.dy_block = detail::shifted_block(maps.dy_step);
        maps.in_use = !refusal && detail::encode_phases(maps.x, x, block, pixels, phases) &&
                      detail::encode_phases(maps.dy, dy, block, pixels, phases);
    } else {
        if (detail::first_unmet(detail::unmet_by_pixels(dy.layout, dy.data, sizeof(T)),
                                detail::unmet_by_tma(x.layout, x.data, sizeof(T)), detail::unmet_by_im2col(filter)))
            return {};
        maps.has_windows = true;
        maps.in_use = !refusal && detail::encode_pixels(maps.dy, dy, block, pixels) &&
                      detail::encode_windows(maps.x, x, filter, block, pixels);
    }
    if (!maps.in_use) return {};
    maps.pixels = static_cast<int>(product.pixels);
    std::int64_t const tiles = product.template tiles<Schedule>();
    params.split_k = split_k;
    maps.stores_vectors = fits_weight_store(params.y);
    params.split_pixels = static_cast<int>(detail::divide_up(steps, split_k.count() / maps.phases)) * pixels;
    auto const launch = prepare_launch(
        gpu, kernel, params, tiles * split_k.count(), split_k.cluster > 1 ? LaunchMode::clusters : LaunchMode::plain,
        split_k.groups > 1 ? GroupWorkspace::state_bytes + static_cast<std::size_t>(split_k.stored_tiles(tiles)) *
                                                               Mainloop::Accumulators::floats * sizeof(float)
                           : 0,
        split_k.cluster);
    if (!launch) return {};
    return *launch;
}

namespace detail {

/// Returns the launch of the PersistentWeights schedule of the shortest estimated time, if it is below `cycles`.
template <class Plan, Element T, OutputElement U>
FUSEKIT_H Maybe<Launch<WeightGradientParams<Plan, T, U>>> prepare_persistent_weight_gradient(
    Gpu const& gpu, WeightGradientParams<Plan, T, U> const& params, WeightProduct const& product, double cycles) {
    using Launched = Maybe<Launch<WeightGradientParams<Plan, T, U>>>;
    return [&]<class... Schedules>(List<Schedules...> table) -> Launched {
        double const estimates[] = {
            persistent_cycles<Schedules>(product, gpu.processors(), NvidiaTuning::costs.weights)...};
        int best = 0;
        for (int i = 1; i < static_cast<int>(sizeof...(Schedules)); ++i)
            if (estimates[i] < estimates[best]) best = i;
        if (estimates[best] >= cycles) return {};
        return with_entry(table, best, [&]<class Schedule>(Schedule) {
            return launch_persistent_weight_gradient<Schedule>(gpu, params);
        });
    }(PersistentWeightTable<NvidiaTuning>{});
}

}  // namespace detail

/// Returns the launch of a weight gradient on sm_90a's tensor cores with the tuning table's schedule of the shortest
/// estimated time, and a workspace of at most `workspace_bytes`. Empty if no schedule can be launched.
template <class Plan, Element T, detail::OutputElement U>
FUSEKIT_H detail::Maybe<Launch<WeightGradientParams<Plan, T, U>>> prepare_bulk_weight_gradient(
    Gpu const& gpu, WeightGradientParams<Plan, T, U> const& params, std::size_t workspace_bytes) {
    using Launched = detail::Maybe<Launch<WeightGradientParams<Plan, T, U>>>;
    auto const filter = params.filter();
    if (!detail::is_sm90a(gpu) || !detail::fits_bulk_groups(filter, params.y.layout.shape)) return {};
    WeightProduct const product = detail::weight_product(params);
    SharingLimits const limits{gpu.processors(), launches_clusters(gpu) ? NvidiaTuning::max_gradient_cluster : 1,
                               workspace_bytes};
    constexpr WeightCosts const& costs = NvidiaTuning::costs.weights;
    return [&]<class... Schedules>(List<Schedules...> table) -> Launched {
        WeightShares const shares[] = {share_pixels<Schedules>(product, limits, costs)...};
        int best = 0;
        for (int i = 1; i < static_cast<int>(sizeof...(Schedules)); ++i)
            if (shares[i].cycles < shares[best].cycles) best = i;
        if constexpr (WeightGradientParams<Plan, T, U>::has_phases && has_weight_store<U>)
            if (Launched launch = detail::prepare_persistent_weight_gradient(gpu, params, product, shares[best].cycles))
                return launch;
        return with_entry(table, best, [&]<class Schedule>(Schedule) {
            return launch_bulk_weight_gradient<Schedule>(gpu, params, shares[best].split_k);
        });
    }(WeightTable<NvidiaTuning>{});
}

}  // namespace fusekit::hip
