// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/candidates.hpp"
#include "fusekit/backend/hip/dispatch/fold_windows.hpp"
#include "fusekit/backend/hip/dispatch/list.hpp"
#include "fusekit/backend/hip/tuning/select.hpp"
#include "fusekit/plan/empty.hpp"

namespace fusekit::hip {

namespace detail {

/// True if the GPU has sm_90a's tensor cores and the program has code for them. Queries the kernel of one schedule
/// only, because a program has code for all sm_90a schedules or for none.
template <class Plan, Element T, OutputElement U>
FUSEKIT_H bool has_matrix_code(Gpu const& gpu) {
    return is_sm90a(gpu) && with_entry(MatrixTable<NvidiaTuning, T>{}, 0, [&]<class Schedule>(Schedule) {
               return kernel_of<Plan, ImplicitGemm<Plan, Schedule, T, U, detail::Axis::channel>>().is_launchable(
                   gpu.index());
           });
}

/// Prepares a launch with a schedule that the caller named and that loads operands by TMA (by_tma, dispatch/list.hpp).
/// Returns the Error of the first unmet condition, if any.
template <class Schedule, class Plan, Element T, OutputElement U>
FUSEKIT_H Result<Launch<ConvParams<Plan, T, U>>> prepare_by_tma(Gpu const& gpu,
                                                                ConvOperands<Plan, T, U> const& operands, int split_k,
                                                                IndexLimits const& limits) {
    using Entry = EntryOf<Schedule>;
    constexpr Unmet by_plan = Entry::template unmet_by_plan<Plan, T, U>();
    Unmet unmet = is_sm90a(gpu) ? by_plan : holds(false, "the GPU is not of compute capability 9.0", "use NativeGemm");
    if constexpr (!by_plan)
        if (!unmet) {
            unmet = can_implement<Schedule, T, U>(case_of(operands, true, 0, limits));
            if (!unmet)
                if (auto const launch = Launcher<Entry>::template launch<Schedule>(gpu, operands, split_k, unmet))
                    return with_choice<ConvParams<Plan, T, U>>(*launch, choice_of(facts_of_each<Schedule>[0], split_k));
        }
    return refuse_schedule(type_name<Plan>, Entry::name, unmet, SplitSchedule<Schedule>);
}

}  // namespace detail

/// Prepares a launch of a plan with a Conv or Gemm with one schedule; with split-K, `split_k` CTAs compute one tile.
/// Returns the Error of the first unmet condition if the schedule cannot compute the plan.
template <class Schedule, Orders orders = Orders::any, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<ConvParams<Plan, T, U>>> prepare_conv_with(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                                   detail::ImageView<T const> const& x,
                                                                   detail::ImageView<U> const& y,
                                                                   int split_k = split_k_of<Schedule>,
                                                                   IndexLimits const& limits = {}) {
    using Entry = EntryOf<Schedule>;
    detail::ConvOperands<Plan, T, U> const operands{bound, x, y};
    if (Refusal refusal = operands.refuse_limits()) return *refusal;
    if (detail::writes_nothing(bound, y.layout.shape))
        return launch_nothing(gpu, type_name<Plan>, detail::conv_params(operands));
    if constexpr (!std::is_same_v<Entry, DirectEntry>)
        if (operands.sum_nothing())
            return detail::refuse_shape(type_name<Plan>, "x",
                                        "at least one element, or the library's choice of a schedule", x.shape());
    if constexpr (Entry::by_tma) {
        CollapsedShape<4> const& output = operands.output;
        if (Refusal refusal =
                refuse_limit(type_name<Plan>, "y", "fewer than 2^30 pixels, for a schedule with TMA loads", output,
                             output[0] * output[2] * output[3], limits.pixels))
            return *refusal;
        return detail::prepare_by_tma<Schedule>(gpu, operands, split_k, limits);
    } else {
        return with_choice(detail::Launcher<Entry>::template prepare<Schedule, orders>(gpu, operands, split_k, limits),
                           choice_of(detail::facts_of_each<Schedule>[0], split_k));
    }
}

namespace detail {

/// Prepares a launch with Grouped or PhasedHalo of a convolution that runs_without_tiles(), such as one of groups of 4
/// channels; empty if they cannot compute it, or Direct is faster.
template <class Plan, Element T, OutputElement U>
[[gnu::cold]] FUSEKIT_H Maybe<Launch<ConvParams<Plan, T, U>>> prepare_fallback(Gpu const& gpu,
                                                                               ConvOperands<Plan, T, U> const& operands,
                                                                               IndexLimits const& limits) {
    using Fallback = FallbackCandidates<Plan, T, U>;
    if (operands.sum_nothing()) return {};
    ConvCase const of = case_of(operands, is_sm90a(gpu), 0, limits);
    Ranking const ranking = with_tuning(gpu.architecture(), [&]<class Tuning>(Tuning) {
        return Ranking(Fallback{}, of, Tuning::costs, rates_of(gpu));
    });
    int const best = ranking.best();
    if (best < 0) return {};
    auto launch = with_entry(Fallback{}, best, [&]<class Schedule>(Schedule) -> Maybe<Launch<ConvParams<Plan, T, U>>> {
        Unmet unmet;
        if constexpr (std::is_same_v<Schedule, DefaultDirect>) return {};
        else return Launcher<EntryOf<Schedule>>::template launch<Schedule>(gpu, operands, 1, unmet);
    });
    if (launch) (*launch).choice = ranking.choice(best);
    return launch;
}

/// Prepares a launch of operands that are folded (fold_windows.hpp) and within limits, with the fastest schedule by the
/// cost model or a tuned table.
template <Orders orders, class Plan, Element T, OutputElement U>
FUSEKIT_H Result<Launch<ConvParams<Plan, T, U>>> prepare_fastest(Gpu const& gpu,
                                                                 ConvOperands<Plan, T, U> const& operands,
                                                                 std::size_t workspace_bytes, TunedTable const* tuned,
                                                                 IndexLimits const& limits) {
    using Prepared = Result<Launch<ConvParams<Plan, T, U>>>;
    if constexpr (DepthwiseEntry::has_kernel<Plan, T, U>)
        if (runs_depthwise(operands))
            return with_choice(Launcher<DepthwiseEntry>::prepare_unchecked<DefaultDepthwise, orders>(gpu, operands),
                               choice_of(facts_of_each<DefaultDepthwise>[0]));
    if (runs_without_tiles(operands)) {
        if constexpr (FallbackCandidates<Plan, T, U>::size > 1) {
            if (auto const launch = prepare_fallback(gpu, operands, limits)) return *launch;
        }
        return with_choice(Launcher<DirectEntry>::prepare<DefaultDirect, orders>(gpu, operands, 1, limits),
                           choice_of(facts_of_each<DefaultDirect>[0]));
    }
    bool on_matrix_units = false;
    if constexpr (MatrixGemmEntry::has_kernel<Plan, T>) on_matrix_units = has_matrix_code<Plan, T, U>(gpu);
    else if constexpr (WarpSpecializedEntry::has_kernel<Plan, T, U>) on_matrix_units = is_sm90a(gpu);
    ConvCase const of = case_of(operands, on_matrix_units, workspace_bytes, limits);
    return with_tuning(gpu.architecture(), [&]<class Tuning>(Tuning) -> Prepared {
        using Bulk = BulkCandidates<Plan, T, U, orders>;
        Ranking ranking(Candidates<Tuning, Plan, T, U, orders>{}, of, Tuning::costs, rates_of(gpu), tuned);
        int best = ranking.best();
        if constexpr (Bulk::size > 0) {
            for (; best >= 0 && best < Bulk::size; best = ranking.best()) {
                auto const launch = with_entry(Bulk{}, best, [&]<class Schedule>(Schedule) {
                    Unmet unmet;
                    return Launcher<EntryOf<Schedule>>::template launch<Schedule>(gpu, operands,
                                                                                  ranking.time(best).split_k, unmet);
                });
                if (launch) return with_choice<ConvParams<Plan, T, U>>(*launch, ranking.choice(best));
                ranking.strike(best);
            }
        }
        int const split_k = best < 0 ? 1 : ranking.time(best).split_k;
        using Other = OtherCandidates<Tuning, Plan, T, U, orders>;
        auto const with = with_entry(Other{}, best - Bulk::size, [&]<class Schedule>(Schedule) {
            return gemm_kernel_for<Schedule, orders, Plan, T, U>(operands.y);
        });
        return with_choice(prepare_product(gpu, with, operands, split_k, limits),
                           ranking.choice(best < 0 ? Bulk::size : best));
    });
}

}  // namespace detail

/// Prepares a launch of a plan with a Conv or Gemm with the fastest schedule by the cost model or a tuned table, and a
/// workspace of at most `workspace_bytes`.
template <Orders orders = Orders::any, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<ConvParams<Plan, T, U>>> prepare_conv(
    Gpu const& gpu, BoundPlan<Plan> const& bound, detail::ImageView<T const> const& x, detail::ImageView<U> const& y,
    std::size_t workspace_bytes, TunedTable const* tuned = nullptr, IndexLimits const& limits = {}) {
    detail::ConvOperands<Plan, T, U> const operands{bound, x, y};
    if (Refusal refusal = operands.refuse_limits()) return *refusal;
    if (detail::writes_nothing(bound, y.layout.shape))
        return launch_nothing(gpu, type_name<Plan>, detail::conv_params(operands));
    return detail::with_folded(operands, [&](detail::ConvOperands<Plan, T, U> const& folded) {
        return detail::prepare_fastest<orders>(gpu, folded, workspace_bytes, tuned, limits);
    });
}

}  // namespace fusekit::hip
