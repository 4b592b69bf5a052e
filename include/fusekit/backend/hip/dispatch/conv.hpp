// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/conv_limits.hpp"
#include "fusekit/backend/hip/dispatch/candidates.hpp"
#include "fusekit/backend/hip/dispatch/halo.hpp"
#include "fusekit/backend/hip/dispatch/planes.hpp"
#include "fusekit/backend/hip/dispatch/stem.hpp"
#include "fusekit/backend/hip/dispatch/tiles.hpp"
#include "fusekit/backend/hip/dispatch/warp_specialized.hpp"
#include "fusekit/backend/hip/mainloop/direct_totals.hpp"
#include "fusekit/backend/hip/mainloop/implicit_gemm.hpp"
#include "fusekit/backend/hip/mainloop/split_gemm.hpp"
#include "fusekit/backend/hip/tuning/select.hpp"
#include "fusekit/plan/empty.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::hip {

namespace detail {

/// Mainloop of a Gemm, NativeGemm or MatrixGemm schedule: ImplicitGemm, or SplitGemm for split-K.
template <class Schedule, class Plan, Element T, detail::OutputElement U, detail::Axis fast>
struct GemmMainloop {
    using Type = ImplicitGemm<Plan, Schedule, T, U, fast>;
};
template <SplitSchedule Schedule, class Plan, Element T, detail::OutputElement U, detail::Axis fast>
struct GemmMainloop<Schedule, Plan, T, U, fast> {
    using Type = SplitGemm<Plan, Split<typename Schedule::Whole>, T, U, fast>;
};

template <class Plan>
FUSEKIT_H Error refuse_matrix_units(Gpu const& gpu) {
    return Error(type_name<Plan>(), "MatrixGemm", "",
                 "a GPU of compute capability 9.0, and code for sm_90a in this program", gpu.name());
}

/// True if x and KCRS filters can be loaded as TapOperands requires: four consecutive pixels at once, and taps dense.
template <class Plan, class Geometry, Element T>
FUSEKIT_H bool has_quads_of_taps([[maybe_unused]] Geometry const& filter, TensorView<T const> const& x,
                                 Layout<4> const& weights, Index<4> const& y) {
    if constexpr (!may_have_quads_of_taps<Plan, T>) return false;
    else
        return AnyTapOrder<Plan, T>::suits(weights.shape[1]) && problem::dense(weights, Index<2>{{2, 3}}) &&
               (weights.stride[1] > 0 || weights.shape[1] == 1) && x.layout.stride[1] >= 0 &&
               has_quads(window_filter(filter), x, y);
}

/// Kernel of an implicit GEMM, with the properties of its schedule and layout that a launch needs.
template <class Params>
struct GemmKernel {
    ScheduleFacts schedule;
    Axis fast;
    int input_packet, weight_packet;  ///< elements per load of x and of the weights
    Kernel<Params> kernel;
};
template <class Schedule, Axis fast, class Plan, Element T, OutputElement U>
FUSEKIT_H GemmKernel<ConvParams<Plan, T, U>> gemm_kernel() {
    using Mainloop = typename GemmMainloop<Schedule, Plan, T, U, fast>::Type;
    using Loader = typename Mainloop::Loader;
    return {facts_of<Schedule>(), fast, Loader::input_packet, Loader::weight_packet, kernel_of<Plan, Mainloop>()};
}

/// Kernel that stores y along its contiguous mode: channels, or pixels.
template <class Schedule, Orders orders, class Plan, Element T, OutputElement U>
FUSEKIT_H GemmKernel<ConvParams<Plan, T, U>> gemm_kernel_for(ImageView<U> const& y) {
    if constexpr (orders == Orders::any)
        if (!problem::channels_are_neighbours(y.layout)) return gemm_kernel<Schedule, Axis::pixel, Plan, T, U>();
    return gemm_kernel<Schedule, Axis::channel, Plan, T, U>();
}

/// Kernel argument of a convolution of x to y, before the members that depend on the schedule.
template <class Plan, Element T, OutputElement U>
FUSEKIT_H ConvParams<Plan, T, U> conv_params(ConvOperands<Plan, T, U> const& operands) {
    ImageView<T const> const& x = operands.x;
    ImageView<U> const& y = operands.y;
    ConvParams<Plan, T, U> params{operands.bound, without_idle_strides(x), y};
    if constexpr (Plan::Head::collapsed_space == 3) params.slices = problem::slices_of<3>(x.from, y.from);
    auto& weights = params.bound.head.weights.layout;
    if (has_no_elements(weights.shape)) weights.stride = {};
    return params;
}

/// Refuses a Gemm schedule that the caller named: operands beyond 32-bit offsets, a GPU or a program without the
/// kernel, and filters of more taps than mask bits. The library's choice never has such operands: runs_without_tiles().
template <class Plan, Element T, OutputElement U>
FUSEKIT_H Refusal refuse_product(Gpu const& gpu, GemmKernel<ConvParams<Plan, T, U>> const& with,
                                 ConvOperands<Plan, T, U> const& operands) {
    auto const& filter = operands.filter;
    if (Refusal refusal =
            refuse_far_operands(type_name<Plan>, type_name<typename Plan::Head>, filter, operands.x.collapsed_layout(),
                                operands.weights, operands.y.collapsed_layout()))
        return refusal;
    if (with.schedule.kind == ScheduleKind::matrix_gemm && !with.kernel.is_launchable(gpu.index()))
        return refuse_matrix_units<Plan>(gpu);
    if constexpr (Plan::Head::may_be_padded)
        if (!has_bits_for<Plan>(filter))
            return Error(
                type_name<Plan>(), name_of_conv<problem::GeometryOf<typename Plan::Head>>, "filter",
                Text::number(KOffset::most(filter.rank)) + " slices, rows and columns at most, for a Gemm schedule",
                Plan::Head::written(operands.bound.head));
    return {};
}

/// Prepares a launch of one schedule's kernel. With split-K, `parts` CTAs compute one tile.
template <class Plan, Element T, OutputElement U>
FUSEKIT_H Result<Launch<ConvParams<Plan, T, U>>> prepare_product(Gpu const& gpu,
                                                                 GemmKernel<ConvParams<Plan, T, U>> const& with,
                                                                 ConvOperands<Plan, T, U> const& operands,
                                                                 [[maybe_unused]] int parts,
                                                                 IndexLimits const& limits) {
    BoundPlan<Plan> const& bound = operands.bound;
    auto const& filter = operands.filter;
    auto const& [schedule, fast, input_packet, weight_packet, kernel] = with;
    auto const w = typed<typename Plan::Head::template WeightElement<T>>(Plan::Head::filters(bound.head));
    ConvParams<Plan, T, U> params = conv_params(operands);
    bool const has_unit =
        schedule.kind == ScheduleKind::native_gemm && has_native_unit<PlanFactor<Plan, T>>(gpu.architecture());
    int const of_unit = 16 / static_cast<int>(sizeof(T)), x_packet = has_unit ? of_unit : input_packet,
              w_packet = has_unit ? of_unit : weight_packet;
    params.channels_fastest = fast == Axis::channel;
    params.inputs_vectorized =
        params.channels_fastest
            ? problem::vectorizable(params.x, x_packet, 1) && w.layout.shape[1] % x_packet == 0
            : !Plan::pools && is_single_pixels(filter) && pixels_are_vectorizable<Plan>(params.x, x_packet);
    params.weights_vectorized =
        batch_steps_whole(bound, w_packet) &&
        (params.channels_fastest ? problem::vectorizable(w, w_packet, 1)
                                 : !has_phases<Plan>() && problem::vectorizable_taps(w, w_packet));
    Index<4> const outputs = conv_output<Plan>(params.y.layout).shape;
    if constexpr (arch::is_targeted<arch::Amd>) {
        auto const pixels = pixels_of_group<Plan>(params.x);
        if constexpr (has_transposed_conv<Plan>)
            params.fits_32bit_offsets =
                has_unit && transposed_windows_are_near(filter, params.x) &&
                (params.channels_fastest ? params.inputs_vectorized && problem::vectorizable(w, w_packet, 0)
                                         : has_quads_of_taps<Plan>(filter, pixels, w.layout, outputs));
        else
            params.fits_32bit_offsets =
                has_unit && params.weights_vectorized &&
                (params.channels_fastest ? params.inputs_vectorized
                                         : !Plan::pools && has_quads(filter, pixels, outputs) &&
                                               (!may_have_quads_of_taps<Plan, T> ||
                                                has_quads_of_taps<Plan>(filter, pixels, w.layout, outputs))) &&
                windows_are_near(filter, params.x, params.slices, w.layout, outputs, schedule.m);
        params.fits_32bit_offsets = params.fits_32bit_offsets && filters_are_near<T>(w.layout, schedule.n);
    }
    GroupedProduct const product = operands.product();
    std::int64_t const columns = divide_up(product.n, schedule.n) * product.groups;
    SlabTiles const cut = cut_slabs<Plan>(outputs, params.slices, schedule.m, columns, limits);
    params.slabs = cut.slabs;
    if constexpr (can_split<Plan, T>)
        if (schedule.splits) {
            params.parts.count = static_cast<unsigned>(parts);
            return prepare_parts(gpu, kernel, params, schedule, cut.tiles * columns);
        }
    return prepare_tiles<Plan>(gpu, kernel, params, cut.tiles, columns);
}

/// True if the GPU has sm_90a's tensor cores and the program has code for them. One schedule is tested, because the
/// program has code for all or for none.
template <class Plan, Element T, OutputElement U>
FUSEKIT_H bool has_matrix_code(Gpu const& gpu) {
    return is_sm90a(gpu) && with_entry(MatrixTable<NvidiaTuning, T>{}, 0, [&]<class Schedule>(Schedule) {
               return kernel_of<Plan, ImplicitGemm<Plan, Schedule, T, U, detail::Axis::channel>>().is_launchable(
                   gpu.index());
           });
}

/// Launches of Gemm, NativeGemm and MatrixGemm schedules.
struct GemmLauncher {
    template <class Schedule, Orders orders, class Plan, Element T, OutputElement U>
    FUSEKIT_H static Result<Launch<ConvParams<Plan, T, U>>> prepare(Gpu const& gpu,
                                                                    ConvOperands<Plan, T, U> const& operands, int parts,
                                                                    IndexLimits const& limits) {
        if constexpr (SplitSchedule<Schedule> && !can_split<Plan, T>) {
            return refuse_matrix_units<Plan>(gpu);
        } else {
            auto const with = gemm_kernel_for<Schedule, orders, Plan, T, U>(operands.y);
            if (Refusal refusal = refuse_product(gpu, with, operands)) return *refusal;
            return prepare_product(gpu, with, operands, parts, limits);
        }
    }
};
template <>
struct Launcher<GemmEntry> : GemmLauncher {};
template <>
struct Launcher<NativeGemmEntry> : GemmLauncher {};
template <>
struct Launcher<MatrixGemmEntry> : GemmLauncher {};

template <>
struct Launcher<DirectEntry> {
    template <class Schedule, Orders orders, class Plan, Element T, OutputElement U>
    FUSEKIT_H static Result<Launch<ConvParams<Plan, T, U>>> prepare(Gpu const& gpu,
                                                                    ConvOperands<Plan, T, U> const& operands, int,
                                                                    IndexLimits const& limits) {
        if constexpr (orders == Orders::any)
            if (!problem::channels_are_neighbours(operands.y.layout))
                return prepare_along<Schedule, Axis::pixel>(gpu, operands, limits);
        return prepare_along<Schedule, Axis::channel>(gpu, operands, limits);
    }

private:
    template <class Schedule, Axis fast, class Plan, Element T, OutputElement U>
    FUSEKIT_H static Result<Launch<ConvParams<Plan, T, U>>> prepare_along(Gpu const& gpu,
                                                                          ConvOperands<Plan, T, U> const& operands,
                                                                          [[maybe_unused]] IndexLimits const& limits) {
        ConvParams<Plan, T, U> params = conv_params(operands);
        Layout<4> const& y = operands.y.layout;
        if constexpr (Plan::totals_tiles) {
            using Mainloop = DirectTotals<Plan, Schedule, T, U, fast>;
            std::int64_t const columns = divide_up(y.shape[1], Mainloop::tile_n);
            SlabTiles const cut = cut_slabs<Plan>(y.shape, params.slices, Mainloop::tile_m, columns, limits);
            params.slabs = cut.slabs;
            return prepare_tiles<Plan>(gpu, kernel_of<Plan, Mainloop>(), params, cut.tiles, columns);
        } else {
            return prepare_launch(gpu, kernel_of<Plan, DirectConv<Plan, Schedule, T, U, fast>>(), params,
                                  divide_up(y.size(), Schedule::threads));
        }
    }
};

}  // namespace detail

/// Prepares a launch of a plan with a Conv or Gemm with one schedule; with split-K, `parts` CTAs compute one tile. If
/// the schedule cannot compute the plan, refuses it with the first unmet condition.
template <class Schedule, Orders orders = Orders::any, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<ConvParams<Plan, T, U>>> prepare_conv_with(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                                   detail::ImageView<T const> const& x,
                                                                   detail::ImageView<U> const& y,
                                                                   int parts = parts_of<Schedule>,
                                                                   IndexLimits const& limits = {}) {
    using Entry = EntryOf<Schedule>;
    detail::ConvOperands<Plan, T, U> const operands{bound, x, y};
    if (Refusal refusal = operands.refuse_limits()) return *refusal;
    if (detail::writes_nothing(bound, y.layout.shape))
        return launch_nothing(gpu, type_name<Plan>, detail::conv_params(operands));
    if constexpr (!std::is_same_v<Entry, DirectEntry>)
        if (operands.sum_nothing())
            return Error(type_name<Plan>(), "x", "shape", "products to sum, or the library's choice of a schedule",
                         to_string(x.shape()));
    if constexpr (Entry::by_tma) {
        CollapsedShape<4> const& output = operands.output;
        if (Refusal refusal =
                refuse_limit(type_name<Plan>, "y", "fewer than 2^30 pixels, for a schedule of bulk copies", output,
                             output[0] * output[2] * output[3], limits.pixels))
            return *refusal;
        return detail::prepare_by_tma<Schedule>(gpu, operands, parts, limits);
    } else {
        return detail::Launcher<Entry>::template prepare<Schedule, orders>(gpu, operands, parts, limits);
    }
}

/// Prepares a launch of a plan with a Conv or Gemm with the schedule that is fastest by the cost model or a tuned
/// table, with a workspace of at most `workspace_bytes`.
template <Orders orders = Orders::any, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<ConvParams<Plan, T, U>>> prepare_conv(
    Gpu const& gpu, BoundPlan<Plan> const& bound, detail::ImageView<T const> const& x, detail::ImageView<U> const& y,
    std::size_t workspace_bytes, TunedTable const* tuned = nullptr, IndexLimits const& limits = {}) {
    using Prepared = Result<Launch<ConvParams<Plan, T, U>>>;
    detail::ConvOperands<Plan, T, U> const operands{bound, x, y};
    if (Refusal refusal = operands.refuse_limits()) return *refusal;
    if (detail::writes_nothing(bound, y.layout.shape))
        return launch_nothing(gpu, type_name<Plan>, detail::conv_params(operands));
    if (detail::runs_without_tiles(operands))
        return detail::Launcher<DirectEntry>::prepare<DefaultDirect, orders>(gpu, operands, 1, limits);
    bool on_matrix_units = false;
    if constexpr (MatrixGemmEntry::has_kernel<Plan, T>) on_matrix_units = detail::has_matrix_code<Plan, T, U>(gpu);
    else if constexpr (WarpSpecializedEntry::has_kernel<Plan, T, U>) on_matrix_units = detail::is_sm90a(gpu);
    ConvCase const of = case_of(operands, on_matrix_units, workspace_bytes, limits);
    return with_tuning(gpu.architecture(), [&]<class Tuning>(Tuning) -> Prepared {
        using Bulk = BulkCandidates<Plan, T, U, orders>;
        Ranking ranking(Candidates<Tuning, Plan, T, U, orders>{}, of, Tuning::costs, rates_of(gpu), tuned);
        int best = ranking.best();
        if constexpr (Bulk::size > 0) {
            for (; best >= 0 && best < Bulk::size; best = ranking.best()) {
                auto const launch = with_entry(Bulk{}, best, [&]<class Schedule>(Schedule) {
                    Unmet unmet;
                    return detail::Launcher<EntryOf<Schedule>>::template launch<Schedule>(
                        gpu, operands, ranking.time(best).parts, unmet);
                });
                if (launch) return *launch;
                ranking.strike(best);
            }
        }
        int const parts = best < 0 ? 1 : ranking.time(best).parts;
        using Other = OtherCandidates<Tuning, Plan, T, U, orders>;
        auto const with = with_entry(Other{}, best - Bulk::size, [&]<class Schedule>(Schedule) {
            return detail::gemm_kernel_for<Schedule, orders, Plan, T, U>(y);
        });
        return detail::prepare_product(gpu, with, operands, parts, limits);
    });
}

}  // namespace fusekit::hip
