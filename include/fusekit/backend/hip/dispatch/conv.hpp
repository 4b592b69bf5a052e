// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/conv_limits.hpp"
#include "fusekit/backend/hip/dispatch/candidates.hpp"
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
FUSEKIT_H Error refuse_matrix_units(Gpu const& gpu) {
    return Error(type_name<Plan>(), "MatrixGemm", "",
                 "a GPU of compute capability 9.0, and code for sm_90a in this program", gpu.name());
}

/// Whether quads of pixels and taps of filters lie as TapOperands load them.
template <class Plan, class Geometry, Element T>
FUSEKIT_H bool has_quads_of_taps([[maybe_unused]] Geometry const& filter, TensorView<T const> const& x,
                                 Layout<4> const& weights, Index<4> const& y) {
    if constexpr (!may_have_quads_of_taps<Plan, T>) return false;
    else
        return AnyTapOrder<Plan, T>::suits(weights.shape[1]) && problem::dense(weights, Index<2>{{2, 3}}) &&
               (weights.stride[1] > 0 || weights.shape[1] == 1) && x.layout.stride[1] >= 0 &&
               has_quads(window_filter(filter), x, y);
}

/// A product's kernel, with the facts of its schedule and layout that its launch needs.
template <class Params>
struct GemmKernel {
    ScheduleFacts schedule;
    Axis fast;
    int input_packet, weight_packet;  ///< elements that a thread loads at once
    Kernel<Params> kernel;
};
template <class Schedule, Axis fast, class Plan, Element T, OutputElement U>
FUSEKIT_H GemmKernel<ConvParams<Plan, T, U>> gemm_kernel() {
    using Mainloop = typename GemmMainloop<Schedule, Plan, T, U, fast>::Type;
    using Loader = typename Mainloop::Loader;
    return {facts_of<Schedule>(), fast, Loader::input_packet, Loader::weight_packet, kernel_of<Plan, Mainloop>()};
}

/// The one for y.
template <class Schedule, Orders orders, class Plan, Element T, OutputElement U>
FUSEKIT_H GemmKernel<ConvParams<Plan, T, U>> gemm_kernel_for(ImageView<U> const& y) {
    if constexpr (orders == Orders::any)
        if (!problem::channels_are_neighbours(y.layout)) return gemm_kernel<Schedule, Axis::pixel, Plan, T, U>();
    return gemm_kernel<Schedule, Axis::channel, Plan, T, U>();
}

/// What the kernel of a convolution of x to y is given, whatever its schedule.
template <class Plan, Element T, OutputElement U>
FUSEKIT_H ConvParams<Plan, T, U> conv_params(BoundPlan<Plan> const& bound, ImageView<T const> const& x,
                                             ImageView<U> const& y) {
    ConvParams<Plan, T, U> params{bound, without_idle_strides(x), y};
    if constexpr (Plan::Head::collapsed_space == 3) params.slices = problem::slices_of<3>(x.from, y.from);
    auto& weights = params.bound.head.weights.layout;
    if (has_no_elements(weights.shape)) weights.stride = {};
    return params;
}

/// Prepares a product with one schedule's kernel. If the schedule splits, `parts` blocks share a tile.
template <class Plan, Element T, OutputElement U>
FUSEKIT_H Result<Launch<ConvParams<Plan, T, U>>> prepare_product(
    Gpu const& gpu, GemmKernel<ConvParams<Plan, T, U>> const& with, BoundPlan<Plan> const& bound,
    ImageView<T const> const& x, ImageView<U> const& y, [[maybe_unused]] int parts, IndexLimits const& limits) {
    auto const filter = Plan::Head::geometry(bound.head);
    if (Refusal refusal =
            refuse_far_operands(type_name<Plan>, type_name<typename Plan::Head>, filter, x.collapsed_layout(),
                                layout_of_weights<Plan>(bound), y.collapsed_layout()))
        return *refusal;
    auto const& [schedule, fast, input_packet, weight_packet, kernel] = with;
    if (schedule.kind == ScheduleKind::matrix_gemm && !kernel.is_launchable(gpu.index()))
        return refuse_matrix_units<Plan>(gpu);
    if constexpr (Plan::Head::may_be_padded)
        if (!has_bits_for<Plan>(filter))
            return Error(
                type_name<Plan>(), name_of_conv<problem::GeometryOf<typename Plan::Head>>, "filter",
                Text::number(KOffset::most(filter.rank)) + " slices, rows and columns at most, for a Gemm schedule",
                Plan::Head::written(bound.head));
    auto const w = typed<typename Plan::Head::template WeightElement<T>>(Plan::Head::filters(bound.head));
    ConvParams<Plan, T, U> params = conv_params(bound, x, y);
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
    GroupedProduct const product = product_of(bound, outputs);
    std::int64_t const columns = divide_up(product.n, schedule.n) * product.groups;
    SlabTiles const cut = cut_slabs(bound, outputs, params.slices, schedule.m, columns, limits);
    params.slabs = cut.slabs;
    if constexpr (has_split<Plan, T>)
        if (schedule.splits) {
            params.parts.count = static_cast<unsigned>(parts);
            return prepare_parts(gpu, kernel, params, schedule, cut.tiles * columns);
        }
    return prepare_tiles<Plan>(gpu, kernel, params, cut.tiles, columns);
}

/// Prepares a Direct.
template <class Schedule, Axis fast, class Plan, Element T, OutputElement U>
FUSEKIT_H Result<Launch<ConvParams<Plan, T, U>>> prepare_direct(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                                ImageView<T const> const& x, ImageView<U> const& y,
                                                                [[maybe_unused]] IndexLimits const& limits) {
    ConvParams<Plan, T, U> params = conv_params(bound, x, y);
    if constexpr (Plan::totals_tiles) {
        using Mainloop = DirectTotals<Plan, Schedule, T, U, fast>;
        std::int64_t const columns = divide_up(y.layout.shape[1], Mainloop::tile_n);
        SlabTiles const cut = cut_slabs(bound, y.layout.shape, params.slices, Mainloop::tile_m, columns, limits);
        params.slabs = cut.slabs;
        return prepare_tiles<Plan>(gpu, kernel_of<Plan, Mainloop>(), params, cut.tiles, columns);
    } else {
        return prepare_launch(gpu, kernel_of<Plan, DirectConv<Plan, Schedule, T, U, fast>>(), params,
                              divide_up(y.layout.size(), Schedule::threads));
    }
}

/// Whether the GPU has matrix units that the program has code for: where it has one schedule's, it has every one's.
template <class Plan, Element T, OutputElement U>
FUSEKIT_H bool has_matrix_code(Gpu const& gpu) {
    return is_sm90a(gpu) && with_entry(MatrixTable<NvidiaTuning, T>{}, 0, [&]<class Schedule>(Schedule) {
               return kernel_of<Plan, ImplicitGemm<Plan, Schedule, T, U, detail::Axis::channel>>().is_launchable(
                   gpu.index());
           });
}

}  // namespace detail

/// A schedule of bulk copies, whose kernels count the pixels of all images in 32 bits.
template <class Schedule>
concept CopiesInBulk =
    WarpSpecializedSchedule<Schedule> || HaloSchedule<Schedule> || StemSchedule<Schedule> || PlanesSchedule<Schedule>;

/// How many blocks share a tile, as a schedule's name says.
template <class Schedule>
inline constexpr int parts_of = 1;
template <SplitSchedule Schedule>
inline constexpr int parts_of<Schedule> = Schedule::parts;

/// Prepares a plan with a Conv or Gemm with one schedule; where it splits, in `parts`.
template <class Schedule, Orders orders = Orders::any, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<ConvParams<Plan, T, U>>> prepare_conv_with(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                                   detail::ImageView<T const> const& x,
                                                                   detail::ImageView<U> const& y,
                                                                   int parts = parts_of<Schedule>,
                                                                   IndexLimits const& limits = {}) {
    auto const filter = Plan::Head::geometry(bound.head);
    auto const weights = detail::layout_of_weights<Plan>(bound);
    CollapsedShape<4> const output(conv_output<Plan>(y.layout).shape, y.from);
    if (Refusal refusal = detail::refuse_conv_limits(type_name<Plan>, filter, x.shape(), weights.shape, output))
        return *refusal;
    if (detail::writes_nothing(bound, y.layout.shape))
        return launch_nothing(gpu, type_name<Plan>, detail::conv_params(bound, x, y));
    if constexpr (!DirectSchedule<Schedule>)
        if (detail::sums_nothing(bound, x))
            return Error(type_name<Plan>(), "x", "shape", "products to sum, or the library's choice of a schedule",
                         to_string(x.shape()));
    if constexpr (CopiesInBulk<Schedule>)
        if (Refusal refusal =
                refuse_limit(type_name<Plan>, "y", "fewer than 2^30 pixels, for a schedule of bulk copies", output,
                             output[0] * output[2] * output[3], limits.pixels))
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
    } else if constexpr (GemmSchedule<Schedule>) {
        auto const with = detail::gemm_kernel_for<Schedule, orders, Plan, T, U>(y);
        return detail::prepare_product(gpu, with, bound, x, y, parts, limits);
    } else {
        if constexpr (orders == Orders::any)
            if (!problem::channels_are_neighbours(y.layout))
                return detail::prepare_direct<Schedule, detail::Axis::pixel>(gpu, bound, x, y, limits);
        return detail::prepare_direct<Schedule, detail::Axis::channel>(gpu, bound, x, y, limits);
    }
}

namespace detail {

/// The launch of a schedule that copies in bulk; nothing where it does not compute the convolution.
template <class Schedule, class Plan, Element T, OutputElement U>
FUSEKIT_H detail::Maybe<Launch<ConvParams<Plan, T, U>>> launch_in_bulk(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                                       ImageView<T const> const& x,
                                                                       ImageView<U> const& y, int parts) {
    if constexpr (WarpSpecializedSchedule<Schedule>) return launch_warp_specialized<Schedule>(gpu, bound, x, y, parts);
    else if constexpr (HaloSchedule<Schedule>) return launch_halo<Schedule>(gpu, bound, x, y);
    else if constexpr (StemSchedule<Schedule>) return launch_stem<Schedule>(gpu, bound, x, y);
    else return launch_planes<WholeSchedule<Schedule>>(gpu, bound, x, y, parts);
}

}  // namespace detail

/// Prepares a plan with a Conv or Gemm with the schedule that takes the least time of those that the tables have for
/// it, by the model or by a table of measurements, with at most `workspace_bytes`.
template <Orders orders = Orders::any, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<ConvParams<Plan, T, U>>> prepare_conv(
    Gpu const& gpu, BoundPlan<Plan> const& bound, detail::ImageView<T const> const& x, detail::ImageView<U> const& y,
    std::size_t workspace_bytes, TunedTable const* tuned = nullptr, IndexLimits const& limits = {}) {
    using Prepared = Result<Launch<ConvParams<Plan, T, U>>>;
    auto const weights = detail::layout_of_weights<Plan>(bound);
    CollapsedShape<4> const output(conv_output<Plan>(y.layout).shape, y.from);
    if (Refusal refusal = detail::refuse_conv_limits(type_name<Plan>, Plan::Head::geometry(bound.head), x.shape(),
                                                     weights.shape, output))
        return *refusal;
    if (detail::writes_nothing(bound, y.layout.shape))
        return launch_nothing(gpu, type_name<Plan>, detail::conv_params(bound, x, y));
    if (detail::runs_without_tiles(bound, x, y, detail::product_of(bound, output)))
        return prepare_conv_with<DefaultDirect, orders>(gpu, bound, x, y, 1, limits);
    bool on_matrix_units = false;
    if constexpr (has_matrix_units<Plan, T> || has_float_units<Plan, T>)
        on_matrix_units = detail::has_matrix_code<Plan, T, U>(gpu);
    else if constexpr (has_warp_specialized<Plan, T, U>) on_matrix_units = detail::is_sm90a(gpu);
    ConvCase const of = case_of(bound, x, y, on_matrix_units, workspace_bytes, limits);
    return with_tuning(gpu.architecture(), [&]<class Tuning>(Tuning) -> Prepared {
        using Bulk = BulkCandidates<Plan, T, U, orders>;
        Ranking ranking(Candidates<Tuning, Plan, T, U, orders>{}, of, Tuning::costs, rates_of(gpu), tuned);
        int best = ranking.best();
        if constexpr (Bulk::size > 0) {
            for (; best >= 0 && best < Bulk::size; best = ranking.best()) {
                auto const launch = with_entry(Bulk{}, best, [&]<class Schedule>(Schedule) {
                    return detail::launch_in_bulk<Schedule>(gpu, bound, x, y, ranking.time(best).parts);
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
        return detail::prepare_product(gpu, with, bound, x, y, parts, limits);
    });
}

}  // namespace fusekit::hip
