// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "fusekit/backend/hip/conv_limits.hpp"
#include "fusekit/backend/hip/dispatch/candidates.hpp"
#include "fusekit/backend/hip/dispatch/tiles.hpp"
#include "fusekit/backend/hip/dispatch/warp_specialized.hpp"
#include "fusekit/backend/hip/mainloop/direct_totals.hpp"
#include "fusekit/backend/hip/mainloop/implicit_gemm.hpp"
#include "fusekit/backend/hip/mainloop/split_gemm.hpp"
#include "fusekit/backend/hip/tuning/select.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::hip {

namespace detail {

/// The mainloop of a Gemm schedule.
template <class Schedule, class Plan, Element T, detail::OutputElement U, detail::Axis fast>
struct GemmMainloop {
    using Type = ImplicitGemm<Plan, Schedule, T, U, fast>;
};
template <SplitSchedule Schedule, class Plan, Element T, detail::OutputElement U, detail::Axis fast>
struct GemmMainloop<Schedule, Plan, T, U, fast> {
    using Type = SplitGemm<Plan, Split<typename Schedule::Whole>, T, U, fast>;
};

template <class Plan>
Error refuse_matrix_units(Gpu const& gpu) {
    return Error(type_name<Plan>(), "MatrixGemm", "",
                 "a GPU of compute capability 9.0, and code for sm_90a in this program", gpu.name());
}

/// Whether quads of pixels and taps of filters lie as TapOperands load them.
template <class Plan, class Geometry, Element T>
bool has_quads_of_taps([[maybe_unused]] Geometry const& filter, TensorView<T const> const& x, Layout<4> const& weights,
                       Index<4> const& y) {
    if constexpr (!may_have_quads_of_taps<Plan, T>) return false;
    else
        return AnyTapOrder<Plan, T>::suits(weights.shape[1]) && problem::dense(weights, Index<2>{{2, 3}}) &&
               weights.stride[1] >= 0 && x.layout.stride[1] >= 0 && has_quads(window_filter(filter), x, y);
}

template <class Schedule, detail::Axis fast, class Plan, Element T, detail::OutputElement U>
Result<Launch<ConvParams<Plan, T, U>>> prepare_along(Gpu const& gpu, ConvParams<Plan, T, U> params) {
    auto const w =
        detail::typed<typename Plan::Head::template WeightElement<T>>(Plan::Head::filters(params.bound.head));
    if constexpr (GemmSchedule<Schedule>) {
        using Mainloop = typename GemmMainloop<Schedule, Plan, T, U, fast>::Type;
        auto const filter = Plan::Head::geometry(params.bound.head);
        if constexpr (MatrixSchedule<Schedule>)
            if (!is_launchable<Plan, Mainloop>(gpu.index())) return refuse_matrix_units<Plan>(gpu);
        if constexpr (Plan::Head::may_be_padded)
            if (!has_bits_for<Plan>(filter))
                return Error(
                    type_name<Plan>(), name_of_conv<problem::GeometryOf<typename Plan::Head>>, "filter",
                    Text::number(KOffset::most(filter.rank)) + " slices, rows and columns at most, for a Gemm schedule",
                    Plan::Head::written(params.bound.head));
        int x_packet = Mainloop::Loader::input_packet, w_packet = Mainloop::Loader::weight_packet;
        if constexpr (NativeSchedule<Schedule>)
            if (has_native_unit<PlanFactor<Plan, T>>(gpu.architecture()))
                x_packet = w_packet = 16 / static_cast<int>(sizeof(T));
        params.channels_fastest = fast == detail::Axis::channel;
        params.inputs_vectorized =
            params.channels_fastest
                ? problem::vectorizable(params.x, x_packet, 1) && w.layout.shape[1] % x_packet == 0
                : !Plan::pools && detail::is_single_pixels(filter) && pixels_are_vectorizable<Plan>(params.x, x_packet);
        params.weights_vectorized =
            batch_steps_whole(params.bound, w_packet) &&
            (params.channels_fastest ? problem::vectorizable(w, w_packet, 1)
                                     : !has_phases<Plan>() && problem::vectorizable_taps(w, w_packet));
        Index<4> const y = conv_output<Plan>(params.y.layout).shape;
        if constexpr (NativeSchedule<Schedule> && arch::is_targeted<arch::Amd>) {
            bool const has_unit = has_native_unit<PlanFactor<Plan, T>>(gpu.architecture());
            if constexpr (has_transposed_conv<Plan>)
                params.near =
                    has_unit && transposed_windows_are_near(filter, params.x) &&
                    (params.channels_fastest ? params.inputs_vectorized && problem::vectorizable(w, w_packet, 0)
                                             : has_quads_of_taps<Plan>(filter, params.x, w.layout, y));
            else
                params.near =
                    has_unit && params.weights_vectorized &&
                    (params.channels_fastest ? params.inputs_vectorized
                                             : !Plan::pools && has_quads(filter, pixels_of_group<Plan>(params.x), y) &&
                                                   (!may_have_quads_of_taps<Plan, T> ||
                                                    has_quads_of_taps<Plan>(filter, params.x, w.layout, y))) &&
                    windows_are_near(filter, params.x, params.slices, w.layout, y, Schedule::tile_m);
            params.near = params.near && filters_are_near<T>(w.layout, Schedule::tile_n);
        }
        GroupedProduct const product = product_of(params.bound, y);
        std::int64_t const tiles = count_tiles<Plan>(product.m, y, params.slices, Schedule::tile_m),
                           columns = detail::divide_up(product.n, Schedule::tile_n) * product.groups;
        if constexpr (SplitSchedule<Schedule>)
            return prepare_parts<Schedule, Plan, Mainloop>(gpu, params, tiles * columns);
        else return prepare_tiles<Plan, Mainloop>(gpu, params, tiles, columns);
    } else if constexpr (Plan::totals_tiles) {
        using Mainloop = DirectTotals<Plan, Schedule, T, U, fast>;
        Index<4> const y = params.y.layout.shape;
        return prepare_tiles<Plan, Mainloop>(gpu, params, detail::divide_up(y[0] * y[2] * y[3], Mainloop::tile_m),
                                             detail::divide_up(y[1], Mainloop::tile_n));
    } else {
        return prepare_launch<Plan, DirectConv<Plan, Schedule, T, U, fast>>(
            gpu, params, detail::divide_up(params.y.layout.size(), Schedule::threads));
    }
}

/// Whether the GPU has matrix units that the program has code for: where it has one schedule's, it has every one's.
template <class Plan, Element T, OutputElement U>
bool has_matrix_code(Gpu const& gpu) {
    return is_sm90a(gpu) && with_entry(MatrixTable<NvidiaTuning, T>{}, 0, [&]<class Schedule>(Schedule) {
               return is_launchable<Plan, ImplicitGemm<Plan, Schedule, T, U, detail::Axis::channel>>(gpu.index());
           });
}

}  // namespace detail

/// How many blocks share a tile, as a schedule's name says.
template <class Schedule>
inline constexpr int parts_of = 1;
template <SplitSchedule Schedule>
inline constexpr int parts_of<Schedule> = Schedule::parts;

/// Prepares a plan with a Conv or Gemm with one schedule; where it splits, in `parts`.
template <class Schedule, class Plan, Element T, detail::OutputElement U>
Result<Launch<ConvParams<Plan, T, U>>> prepare_conv_with(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                         detail::ImageView<T const> const& x,
                                                         detail::ImageView<U> const& y,
                                                         int parts = parts_of<Schedule>) {
    auto const filter = Plan::Head::geometry(bound.head);
    auto const weights = detail::layout_of_weights<Plan>(bound);
    CollapsedShape<4> const output(conv_output<Plan>(y.layout).shape, y.from);
    if (Refusal refusal = detail::refuse_conv_limits(type_name<Plan>, filter, x.shape(), weights.shape, output))
        return *refusal;
    if constexpr (WarpSpecializedSchedule<Schedule>) {
        return prepare_warp_specialized_with<Schedule>(gpu, bound, x, y, parts);
    } else if constexpr (HaloSchedule<Schedule>) {
        return prepare_halo_with<Schedule>(gpu, bound, x, y);
    } else if constexpr (StemSchedule<Schedule>) {
        return prepare_stem_with<Schedule>(gpu, bound, x, y);
    } else if constexpr (PlanesSchedule<Schedule>) {
        return prepare_planes_with<WholeSchedule<Schedule>>(gpu, bound, x, y, parts);
    } else if constexpr (SplitSchedule<Schedule> && !has_split<Plan, T>) {
        return detail::refuse_matrix_units<Plan>(gpu);
    } else {
        if constexpr (GemmSchedule<Schedule>)
            if (Refusal refusal = detail::refuse_far_operands(type_name<Plan>, type_name<typename Plan::Head>, filter,
                                                              x.collapsed_layout(), weights, y.collapsed_layout()))
                return *refusal;
        ConvParams<Plan, T, U> params{bound, detail::without_idle_strides(x), y};
        if constexpr (SplitSchedule<Schedule>) params.parts.count = static_cast<unsigned>(parts);
        if constexpr (Plan::Head::collapsed_space == 3) params.slices = {x.from.count, y.from.count};
        if (problem::channels_are_neighbours(y.layout))
            return detail::prepare_along<Schedule, detail::Axis::channel>(gpu, params);
        return detail::prepare_along<Schedule, detail::Axis::pixel>(gpu, params);
    }
}

namespace detail {

/// The launch of a candidate. Where one that copies in bulk has none, because an operand does not lie as that needs it,
/// the error has no words.
template <class Schedule, class Plan, Element T, OutputElement U>
Result<Launch<ConvParams<Plan, T, U>>> launch_candidate(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                        ImageView<T const> const& x, ImageView<U> const& y, int parts) {
    if constexpr (GemmSchedule<Schedule> || DirectSchedule<Schedule>) {
        return prepare_conv_with<Schedule>(gpu, bound, x, y, parts);
    } else {
        ConvParams<Plan, T, U> const params{bound, x, y};
        auto const launch = [&] {
            if constexpr (WarpSpecializedSchedule<Schedule>)
                return launch_warp_specialized<Schedule>(gpu, params, parts);
            else if constexpr (HaloSchedule<Schedule>) return launch_halo<Schedule>(gpu, params);
            else if constexpr (StemSchedule<Schedule>) return launch_stem<Schedule>(gpu, params);
            else return launch_planes<WholeSchedule<Schedule>>(gpu, params, parts);
        }();
        if (launch) return *launch;
        return Error("", "", "", "", "");
    }
}

}  // namespace detail

/// Prepares a plan with a Conv or Gemm with the schedule that takes the least time of those that the tables have for
/// it, by the model or by a table of measurements, with at most `workspace_bytes`.
template <class Plan, Element T, detail::OutputElement U>
Result<Launch<ConvParams<Plan, T, U>>> prepare_conv(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                    detail::ImageView<T const> const& x, detail::ImageView<U> const& y,
                                                    std::size_t workspace_bytes, TunedTable const* tuned = nullptr) {
    using Prepared = Result<Launch<ConvParams<Plan, T, U>>>;
    auto const weights = detail::layout_of_weights<Plan>(bound);
    CollapsedShape<4> const output(conv_output<Plan>(y.layout).shape, y.from);
    if (Refusal refusal = detail::refuse_conv_limits(type_name<Plan>, Plan::Head::geometry(bound.head), x.shape(),
                                                     weights.shape, output))
        return *refusal;
    if (detail::runs_without_tiles(bound, x, y, detail::product_of(bound, output)))
        return prepare_conv_with<DefaultDirect>(gpu, bound, x, y);
    bool on_matrix_units = false;
    if constexpr (has_matrix_units<Plan, T> || has_float_units<Plan, T>)
        on_matrix_units = detail::has_matrix_code<Plan, T, U>(gpu);
    else if constexpr (has_warp_specialized<Plan, T, U>) on_matrix_units = detail::is_sm90a(gpu);
    ConvCase const of = case_of(bound, x, y, on_matrix_units, workspace_bytes);
    return with_tuning(gpu.architecture(), [&]<class Tuning>(Tuning) -> Prepared {
        Candidates<Tuning, Plan, T, U> const candidates;
        Ranking ranking(candidates, of, Tuning::costs, rates_of(gpu), tuned);
        for (;;) {
            int const best = ranking.best();
            auto launch = with_entry(candidates, best, [&]<class Schedule>(Schedule) {
                return detail::launch_candidate<Schedule>(gpu, bound, x, y, ranking.time(best).parts);
            });
            if (launch || !ranking.schedule(best).copies_in_bulk()) return launch;
            ranking.strike(best);
        }
    });
}

}  // namespace fusekit::hip
