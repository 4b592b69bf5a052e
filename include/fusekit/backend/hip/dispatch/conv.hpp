// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/conv_limits.hpp"
#include "fusekit/backend/hip/dispatch/tiles.hpp"
#include "fusekit/backend/hip/mainloop/direct_totals.hpp"
#include "fusekit/backend/hip/mainloop/implicit_gemm.hpp"
#include "fusekit/backend/hip/tuning/select.hpp"

namespace fusekit::hip {

namespace detail {

/// Whether runs of `count` elements, each beginning at a multiple of it along mode `fastest`, are aligned in memory.
template <class T>
bool vectorizable(TensorView<T> const& view, int count, int fastest) {
    for (int mode = 0; mode < 4; ++mode)
        if (mode != fastest && view.layout.shape[mode] > 1 && view.layout.stride[mode] % count != 0) return false;
    return view.layout.stride[fastest] == 1 && view.layout.shape[fastest] % count == 0 &&
           aligned(view.data, count * static_cast<int>(sizeof(T)));
}

/// Whether planes are without gaps, of a multiple of `count` pixels, and all begin aligned.
template <class T>
bool vectorizable_planes(TensorView<T> const& x, int count) {
    Index<4> const &shape = x.layout.shape, &stride = x.layout.stride;
    bool const rows = shape[3] == 1 || stride[3] == 1, plane = shape[2] == 1 || stride[2] == shape[3];
    return rows && plane && shape[2] * shape[3] % count == 0 && (shape[1] == 1 || stride[1] % count == 0) &&
           (shape[0] == 1 || stride[0] % count == 0) && aligned(x.data, count * static_cast<int>(sizeof(T)));
}

/// Whether the weights' indices of GemmK, taps fastest, are neighbours throughout.
template <class T>
bool vectorizable_taps(TensorView<T> const& w, int count) {
    Index<4> const &shape = w.layout.shape, &stride = w.layout.stride;
    bool const columns = shape[3] == 1 || stride[3] == 1, rows = shape[2] == 1 || stride[2] == shape[3];
    return columns && rows && (shape[1] == 1 || stride[1] == shape[2] * shape[3]) &&
           (shape[0] == 1 || stride[0] % count == 0) && shape[1] * shape[2] * shape[3] % count == 0 &&
           aligned(w.data, count * static_cast<int>(sizeof(T)));
}

/// Whether a row has bits for the slices, rows and columns of a padded window.
template <class Plan, int Space>
bool has_bits_for(Filter<Space> const& filter) {
    for (int mode = 0; mode < Space; ++mode)
        if (Plan::Head::may_be_padded && filter.size[mode] > KOffset::most(Space)) return false;
    return true;
}

template <class Schedule, Axis fast, class Plan, Element T>
Result<Launch<ConvParams<Plan, T>>> prepare_along(Gpu const& gpu, ConvParams<Plan, T> params) {
    auto const w = typed<T>(Plan::Head::filters(params.bound.head));
    if constexpr (GemmSchedule<Schedule>) {
        using Mainloop = ImplicitGemm<Plan, Schedule, T, fast>;
        auto const filter = Plan::Head::geometry(params.bound.head);
        if constexpr (Plan::Head::may_be_padded)
            if (!has_bits_for<Plan>(filter))
                return Error(
                    type_name<Plan>(), "Conv", "filter",
                    Text::number(KOffset::most(filter.rank)) + " slices, rows and columns at most, for a Gemm schedule",
                    Plan::Head::written(params.bound.head));
        constexpr int x_packet = Mainloop::Loader::input_packet, w_packet = Mainloop::Loader::weight_packet;
        params.channels_fastest = fast == Axis::channel;
        params.inputs_vectorized =
            params.channels_fastest
                ? vectorizable(params.x, x_packet, 1) && w.layout.shape[1] % x_packet == 0
                : !Plan::pools && is_single_pixels(filter) && vectorizable_planes(params.x, x_packet);
        params.weights_vectorized =
            params.channels_fastest ? vectorizable(w, w_packet, 1) : vectorizable_taps(w, w_packet);
        Index<4> const y = conv_output<Plan>(params.y.layout).shape;
        std::int64_t const tiles = divide_up(y[0] * y[2] * y[3], Schedule::tile_m);
        std::int64_t const columns = divide_up(y[1] / filter.group_count, Schedule::tile_n) * filter.group_count;
        return prepare_tiles<Plan, Mainloop>(gpu, params, tiles, columns);
    } else if constexpr (Plan::totals_tiles) {
        using Mainloop = DirectTotals<Plan, Schedule, T, fast>;
        Index<4> const y = params.y.layout.shape;
        return prepare_tiles<Plan, Mainloop>(gpu, params, divide_up(y[0] * y[2] * y[3], Mainloop::tile_m),
                                             divide_up(y[1], Mainloop::tile_n));
    } else {
        return prepare_launch<Plan, DirectConv<Plan, Schedule, T, fast>>(
            gpu, params, divide_up(params.y.layout.size(), Schedule::threads));
    }
}

}  // namespace detail

/// Prepares a plan with a Conv or Gemm with one schedule.
template <class Schedule, class Plan, Element T>
Result<Launch<ConvParams<Plan, T>>> prepare_conv_with(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                      TensorView<T const> const& x, TensorView<T> const& y) {
    auto const filter = Plan::Head::geometry(bound.head);
    Layout<4> const weights = Plan::Head::filters(bound.head).layout;
    if (Refusal refusal = detail::refuse_conv_limits(type_name<Plan>, filter, x.layout.shape, weights.shape,
                                                     conv_output<Plan>(y.layout).shape))
        return *refusal;
    if constexpr (GemmSchedule<Schedule>) {
        auto const far = detail::too_far_for_gemm(filter, x.layout, weights, y.layout);
        if (far.layout)
            return Error(type_name<Plan>(), far.operator_name, far.argument, far.expected, "strides " + far.strides());
    }
    ConvParams<Plan, T> const params{bound, detail::without_idle_strides(x), y, false, false, false, {}};
    if (y.layout.stride[1] == 1 && y.layout.shape[1] > 1)
        return detail::prepare_along<Schedule, Axis::channel>(gpu, params);
    return detail::prepare_along<Schedule, Axis::pixel>(gpu, params);
}

/// Prepares a plan with a Conv or Gemm with the schedule that the table has for it.
template <class Plan, Element T>
Result<Launch<ConvParams<Plan, T>>> prepare_conv(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                 TensorView<T const> const& x, TensorView<T> const& y) {
    auto const filter = Plan::Head::geometry(bound.head);
    std::int64_t const groups = filter.group_count, group_k = y.layout.shape[1] / groups;
    if constexpr (Plan::Head::may_be_grouped || Plan::Head::longest > KOffset::most(filter.rank))
        if ((groups > 1 && group_k <= direct_max_group_channels) || !detail::has_bits_for<Plan>(filter) ||
            detail::too_far_for_gemm(filter, x.layout, Plan::Head::filters(bound.head).layout, y.layout).layout)
            return prepare_conv_with<DefaultDirect>(gpu, bound, x, y);
    Index<4> const shape = conv_output<Plan>(y.layout).shape;
    return with_fastest(GemmTable{}, shape[0] * shape[2] * shape[3], group_k, groups, gpu.processors(),
                        [&]<class Schedule>(Schedule) { return prepare_conv_with<Schedule>(gpu, bound, x, y); });
}

}  // namespace fusekit::hip
