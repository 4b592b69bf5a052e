// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <optional>

#include "fusekit/backend/hip/conv_limits.hpp"
#include "fusekit/backend/hip/dispatch/planes.hpp"
#include "fusekit/backend/hip/dispatch/product.hpp"
#include "fusekit/backend/hip/dispatch/split.hpp"
#include "fusekit/backend/hip/dispatch/stem.hpp"
#include "fusekit/backend/hip/dispatch/tiles.hpp"
#include "fusekit/backend/hip/dispatch/warp_specialized.hpp"
#include "fusekit/backend/hip/mainloop/direct_totals.hpp"
#include "fusekit/backend/hip/mainloop/implicit_gemm.hpp"
#include "fusekit/backend/hip/mainloop/split_gemm.hpp"
#include "fusekit/backend/hip/tuning/select.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::hip {

namespace detail {

/// The weights' layout as collapsed; N x K x 1 x 1 for a Gemm.
template <class Plan>
detail::CollapsedLayout<4> layout_of_weights(BoundPlan<Plan> const& bound) {
    auto const& weights = Plan::Head::filters(bound.head);
    return {weights.layout, detail::collapsed_from(weights)};
}

/// Whether a row has bits for the slices, rows and columns of a padded window.
template <class Plan, class Geometry>
bool has_bits_for(Geometry const& filter) {
    for (int mode = 0; mode < filter.rank; ++mode)
        if (Plan::Head::may_be_padded && filter.size[mode] > KOffset::most(filter.rank)) return false;
    return true;
}

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
            (params.channels_fastest ? problem::vectorizable(w, w_packet, 1) : problem::vectorizable_taps(w, w_packet));
        Index<4> const y = conv_output<Plan>(params.y.layout).shape;
        if constexpr (NativeSchedule<Schedule> && arch::is_targeted<arch::Amd> &&
                      !is_transposed<problem::GeometryOf<typename Plan::Head>>)
            params.near =
                has_native_unit<PlanFactor<Plan, T>>(gpu.architecture()) && params.weights_vectorized &&
                (params.channels_fastest ? params.inputs_vectorized
                                         : !Plan::pools && has_quads(filter, pixels_of_group<Plan>(params.x), y)) &&
                windows_are_near(filter, params.x, params.slices, w.layout, y, Schedule::tile_m) &&
                filters_are_near<T>(w.layout, Schedule::tile_n);
        GroupedProduct const product = product_of(params.bound, y);
        std::int64_t const tiles = detail::divide_up(product.m, Schedule::tile_m),
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
        return prepare_warp_specialized_with<Schedule>(gpu, bound, x, y);
    } else if constexpr (HaloSchedule<Schedule>) {
        return prepare_halo_with<Schedule>(gpu, bound, x, y);
    } else if constexpr (StemSchedule<Schedule>) {
        return prepare_stem_with<Schedule>(gpu, bound, x, y);
    } else if constexpr (PlanesSchedule<Schedule>) {
        return prepare_planes_with<Schedule>(gpu, bound, x, y);
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

/// Prepares a plan of floats on matrix units, with the schedule of the table that takes the least time; nothing where
/// it takes less than `cycles` without them, or the program or the GPU has none.
template <class... Schedules, class Plan, Element T, detail::OutputElement U>
std::optional<Launch<ConvParams<Plan, T, U>>> prepare_float_units(Table<Schedules...> table, Gpu const& gpu,
                                                                  BoundPlan<Plan> const& bound,
                                                                  detail::ImageView<T const> const& x,
                                                                  detail::ImageView<U> const& y,
                                                                  SplitProduct const& product, double cycles) {
    double const times[] = {float_matrix_cycles<Schedules, PlanFactor<Plan, T>>(product, gpu.processors())...};
    bool wins = false;
    for (double const time : times) wins = wins || time < cycles;
    std::optional<Launch<ConvParams<Plan, T, U>>> launch;
    if (wins && detail::has_matrix_code<Plan, T, U>(gpu))
        with_least(table, times, [&]<class Schedule>(Schedule) {
            if (auto const prepared = prepare_conv_with<Schedule>(gpu, bound, x, y)) launch = *prepared;
        });
    return launch;
}

/// Prepares a plan with a Conv or Gemm with the schedule that the table has for it, and at most `workspace_bytes`.
template <class Plan, Element T, detail::OutputElement U>
Result<Launch<ConvParams<Plan, T, U>>> prepare_conv(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                    detail::ImageView<T const> const& x, detail::ImageView<U> const& y,
                                                    std::size_t workspace_bytes) {
    auto const filter = Plan::Head::geometry(bound.head);
    auto const counts = [&] {  // in 32 bits
        return !detail::refuse_conv_limits(type_name<Plan>, filter, x.shape(),
                                           detail::layout_of_weights<Plan>(bound).shape, y.shape());
    };
    if constexpr (has_warp_specialized<Plan, T, U>)
        if (counts())
            if (auto const launch = prepare_warp_specialized(gpu, bound, x, y)) return *launch;
    detail::GroupedProduct const product = detail::product_of(bound, conv_output<Plan>(y.layout).shape);
    if constexpr (Plan::Head::may_be_grouped || Plan::Head::longest > KOffset::most(filter.rank))
        if ((product.groups > 1 && product.n <= direct_max_group_channels) || !detail::has_bits_for<Plan>(filter) ||
            detail::far_operand(filter, x.collapsed_layout(), detail::layout_of_weights<Plan>(bound), y.layout) !=
                detail::FarOperand::none)
            return prepare_conv_with<DefaultDirect>(gpu, bound, x, y);
    if constexpr (has_matrix_units<Plan, T>)
        if (product.n >= least_matrix_channels && detail::has_matrix_code<Plan, T, U>(gpu)) {
            if constexpr (has_stem<Plan, T, U>)
                if (counts())
                    if (auto const launch = detail::launch_stem<DefaultStem>(gpu, ConvParams<Plan, T, U>{bound, x, y}))
                        return *launch;
            if constexpr (has_split<Plan, T>) {
                using Shared = DefaultMatrixSplit<NvidiaTuning>;
                Index<4> const w = detail::layout_of_weights<Plan>(bound).shape;
                int const parts =
                    choose_matrix_parts<Shared>(
                        MatrixTable<NvidiaTuning>{},
                        split_product(gpu, NvidiaTuning::matrix_split, w, product, workspace_bytes), gpu.processors())
                        .parts;
                if (parts > 1) return prepare_conv_with<Shared>(gpu, bound, x, y, parts);
            }
            if constexpr (has_planes<Plan, T, U> && NvidiaTuning::chooses_planes)
                if (counts())
                    if (auto const launch = prepare_planes(gpu, bound, x, y)) return *launch;
            if (auto launch = with_fastest_matrix(
                    MatrixTable<NvidiaTuning>{}, product.m, product.n, product.groups, gpu.processors(),
                    [&]<class Schedule>(Schedule) { return prepare_conv_with<Schedule>(gpu, bound, x, y); }))
                return launch;
        }
    return with_tuning(gpu.architecture(), [&]<class Tuning>(Tuning) -> Result<Launch<ConvParams<Plan, T, U>>> {
        if constexpr (std::is_same_v<T, float> && (has_split<Plan, T> || has_float_units<Plan, T>) &&
                      Tuning::chooses_split) {
            using Shared = DefaultSplit<Tuning>;
            SplitProduct shared = split_product(gpu, Tuning::split, detail::layout_of_weights<Plan>(bound).shape,
                                                product, workspace_bytes);
            if constexpr (!has_split<Plan, T>) shared.most_tiles = 0;
            SplitChoice const choice = choose_parts<Shared>(GemmTable<Tuning>{}, shared, gpu.processors());
            if constexpr (has_float_units<Plan, T>) {
                constexpr bool wanted = std::is_same_v<FloatFactor<Plan>, bfloat16x3>;
                if (auto const launch =
                        prepare_float_units(MatrixTable<NvidiaTuning, PlanFactor<Plan, T>>{}, gpu, bound, x, y, shared,
                                            wanted ? std::numeric_limits<double>::infinity() : choice.cycles))
                    return *launch;
            }
            if constexpr (has_split<Plan, T>)
                if (choice.parts > 1) return prepare_conv_with<Shared>(gpu, bound, x, y, choice.parts);
        }
        using Schedules = GemmTable<Tuning, T, typename Plan::Head::template WeightElement<T>, PlanFactor<Plan, T>>;
        return with_fastest(Schedules{}, product.m, product.n, product.groups, gpu.processors(),
                            [&]<class Schedule>(Schedule) { return prepare_conv_with<Schedule>(gpu, bound, x, y); });
    });
}

}  // namespace fusekit::hip
