// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/list.hpp"
#include "fusekit/backend/hip/dispatch/orders.hpp"
#include "fusekit/backend/hip/tuning/select.hpp"
#include "fusekit/backend/hip/tuning/tuned.hpp"

namespace fusekit::hip {

namespace detail {

/// True if the program has kernels for sm_90a's tensor cores that compute the plan.
template <class Plan, class T, class U>
inline constexpr bool has_matrix_kernels =
    MatrixGemmEntry::has_kernel<Plan, T> || WarpSpecializedEntry::has_kernel<Plan, T, U>;

template <bool has, class Schedules>
using ListIf = std::conditional_t<has, Schedules, List<>>;

/// Types: lists of the schedules on NVIDIA's tensor cores for a plan. Planes schedules for 16 bits read NCHW tensors;
/// Planes schedules for float read NCHW and channels-last tensors. In relocatable code those for 16 bits lack registers
/// and take 7 to 14 times as long, 4 times as long as the next fastest schedule (bench/relocatable.cpp, H200).
template <class Plan, class T, class U, Orders orders>
struct MatrixCandidates {
    static constexpr bool in_planes = PlanesEntry::has_kernel<Plan, T, U> && NvidiaTuning::chooses_planes &&
                                      (std::is_same_v<T, float> || (orders == Orders::any && !arch::is_relocatable));

    template <bool units>
    FUSEKIT_H static constexpr auto register_operands() {
        if constexpr (units)
            return JoinedList<
                MatrixTable<NvidiaTuning, PlanFactor<Plan, T>>,
                ListIf<has_matrix_units<Plan, T> && can_split<Plan, T>, List<DefaultMatrixSplit<NvidiaTuning>>>>{};
        else return List<>{};
    }
    template <bool bulk>
    FUSEKIT_H static constexpr auto bulk_operands() {
        if constexpr (bulk)
            return JoinedList<WarpSpecializedTable<NvidiaTuning, T>,
                              ListIf<can_split<Plan, T> && sizeof(T) == 2 && !has_phases<Plan>() && !Plan::pools,
                                     List<DefaultBulkSplit<NvidiaTuning>>>,
                              ListIf<HaloEntry::has_kernel<Plan, T, U>, List<DefaultHalo<T>>>,
                              ListIf<StemEntry::has_kernel<Plan, T, U>, List<DefaultStem>>>{};
        else return List<>{};
    }
    using Bulk = JoinedList<
        decltype(bulk_operands<WarpSpecializedEntry::has_kernel<Plan, T, U>>()),
        ListIf<in_planes, PlanesTable<NvidiaTuning, T>>,
        ListIf<in_planes && can_split<Plan, T> && sizeof(T) == 2 && !Plan::pools, PlanesSplitTable<NvidiaTuning, T>>,
        ListIf<in_planes && GatheredPlanesEntry::has_kernel<Plan, T, U>, List<DefaultGatheredPlanes>>,
        ListIf<in_planes && GatheredPlanesEntry::has_kernel<Plan, T, U> && can_split<Plan, T>,
               List<Split<DefaultGatheredPlanes>>>,
        ListIf<GroupedEntry::has_kernel<Plan, T, U>, List<DefaultGrouped>>,
        ListIf<GemvEntry::has_kernel<Plan, T, U>, List<DefaultGemv>>,
        ListIf<TallGemmEntry::has_kernel<Plan, T, U>, List<DefaultTallGemm>>,
        ListIf<PhasedHaloEntry::has_kernel<Plan, T, U>, List<DefaultPhasedHalo>>,
        ListIf<orders == Orders::any && TallPlanesEntry::has_kernel<Plan, T, U>, List<DefaultTallPlanes>>,
        ListIf<orders == Orders::any && TmaPlanesEntry::has_kernel<Plan, T, U>, List<DefaultTmaPlanes>>,
        ListIf<Col2imEntry::has_kernel<Plan, T, U>, List<DefaultCol2im>>,
        ListIf<StripHaloEntry::has_kernel<Plan, T, U>, List<DefaultStripHalo>>>;
    using Register = decltype(register_operands<MatrixGemmEntry::has_kernel<Plan, T>>());
};

}  // namespace detail

/// Lists of the schedules from which the library selects for a plan with a Conv or Gemm. BulkCandidates load operands
/// by TMA, or are Grouped or Gemv; a launch of one may fail. OtherCandidates load any layout, and the last of them runs
/// on any GPU.
template <class Plan, Element T, detail::OutputElement U, Orders orders = Orders::any>
using BulkCandidates = typename detail::MatrixCandidates<Plan, T, U, orders>::Bulk;
template <class Tuning, class Plan, Element T, detail::OutputElement U, Orders orders = Orders::any>
using OtherCandidates = detail::JoinedList<
    typename detail::MatrixCandidates<Plan, T, U, orders>::Register,
    detail::ListIf<std::is_same_v<T, float> && can_split<Plan, T> && Tuning::chooses_split, List<DefaultSplit<Tuning>>>,
    GemmTable<Tuning, T, typename Plan::Head::template WeightElement<T>, PlanFactor<Plan, T>>>;
template <class Tuning, class Plan, Element T, detail::OutputElement U, Orders orders = Orders::any>
using Candidates = detail::JoinedList<BulkCandidates<Plan, T, U, orders>, OtherCandidates<Tuning, Plan, T, U, orders>>;

/// List of the schedules from which the library selects for a depthwise convolution.
using UntiledCandidates = List<DefaultDepthwise, DefaultDirect>;
/// List of the schedules from which the library selects for a convolution that runs_without_tiles().
template <class Plan, Element T, detail::OutputElement U>
using FallbackCandidates =
    detail::JoinedList<detail::ListIf<GroupedEntry::has_kernel<Plan, T, U>, List<DefaultGrouped>>,
                       detail::ListIf<PhasedHaloEntry::has_kernel<Plan, T, U>, List<DefaultPhasedHalo>>,
                       detail::ListIf<TallPlanesEntry::has_kernel<Plan, T, U>, List<DefaultTallPlanes>>,
                       List<DefaultDirect>>;

/// Key of a convolution in a tuned table. If `taps` is not the filter's R S, as in convolutions of volumes, or if the
/// convolution has phases, the key has s = -1, which no table contains.
FUSEKIT_H constexpr TunedKey key_of(ConvCase const& of) {
    Filter<2> const& filter = of.filter;
    bool const has_taps =
        filter.size[0] * filter.size[1] == of.taps && of.phases == 1 && (of.taps == 1 || !of.transposed);
    return {.type = of.type,
            .x_channels_last = of.x_channels_last,
            .y_channels_last = of.channels_last,
            .n = of.x[0],
            .c = of.x[1],
            .h = of.x[2],
            .w = of.x[3],
            .k = of.y[1],
            .r = filter.size[0],
            .s = has_taps ? filter.size[1] : -1,
            .top = filter.pad_before[0],
            .left = filter.pad_before[1],
            .bottom = filter.pad_after[0],
            .right = filter.pad_after[1],
            .stride_h = filter.strides[0],
            .stride_w = filter.strides[1],
            .dilation_h = filter.dilations[0],
            .dilation_w = filter.dilations[1],
            .groups = of.product.groups};
}

namespace detail {

template <class... Schedules>
inline constexpr ScheduleFacts facts_of_each[sizeof...(Schedules)] = {facts_of<Schedules>()...};

}  // namespace detail

/// Choice of a schedule with static storage, such as an element of facts_of_each.
FUSEKIT_H inline Choice choice_of(ScheduleFacts const& schedule, int split_k = 1) {
    return {.name_of =
                [](Choice const& choice) {
                    return static_cast<ScheduleFacts const*>(choice.schedule)->name(choice.split_k);
                },
            .schedule = &schedule,
            .split_k = split_k};
}

/// Estimated times of a list of schedules for one convolution: the cost model's time, multiplied by the measured
/// factors of a tuned table if one is given. If the table has this convolution, its schedule ranks first.
class Ranking {
public:
    static constexpr int most = 32;  ///< maximum length of the list of schedules

    template <class... Schedules>
    FUSEKIT_H constexpr Ranking(List<Schedules...>, ConvCase const& of, CostTable const& costs, GpuRates const& rates,
                                TunedTable const* tuned = nullptr)
        : Ranking(detail::facts_of_each<Schedules...>, sizeof...(Schedules), of, costs, rates, tuned) {
        static_assert(sizeof...(Schedules) <= most);
    }

    /// Index, in the list of schedules, of the shortest time among those that strike() has not removed; -1 if there is
    /// none.
    FUSEKIT_H constexpr int best() const {
        int best = -1;
        for (int i = 0; i < count; ++i)
            if (times[i].seconds < (best < 0 ? Estimate::infinite : times[best].seconds)) best = i;
        return best;
    }
    FUSEKIT_H constexpr ScheduleFacts const& schedule(int number) const { return schedules[number]; }
    FUSEKIT_H constexpr Estimate const& time(int number) const { return times[number]; }
    /// Choice of a schedule, with its estimated time.
    FUSEKIT_H Choice choice(int number) const {
        Estimate const& estimated = times[number];
        Choice chosen = choice_of(schedules[number], estimated.split_k);
        chosen.seconds = estimated.is_finite() ? estimated.seconds : 0;
        chosen.bound = name_of(estimated.bound);
        return chosen;
    }
    FUSEKIT_H constexpr void strike(int number) { times[number] = {}; }

private:
    ScheduleFacts const* schedules;
    int count;
    Estimate times[most];

    FUSEKIT_H constexpr Ranking(ScheduleFacts const* the_schedules, int the_count, ConvCase const& of,
                                CostTable const& costs, GpuRates const& rates, TunedTable const* tuned)
        : schedules(the_schedules), count(the_count) {
        bool const launches = !detail::has_no_elements(of.y);
        for (int i = 0; i < count; ++i)
            times[i] = launches ? estimate_of(schedules[i], of, costs, rates) : Estimate{.seconds = 0};
        if (tuned && tuned->architecture == rates.architecture) correct(*tuned, tuned->find(key_of(of)));
    }

    FUSEKIT_H constexpr void correct(TunedTable const& tuned, TunedProblem const* measured) {
        for (int i = 0; i < count; ++i) {
            if (times[i].is_finite()) times[i].seconds *= tuned.factor(schedules[i].kind);
            if (measured && times[i].is_finite() && schedules[i] == measured->schedule)
                times[i].seconds = 0, times[i].split_k = measured->split_k;
        }
    }
};

}  // namespace fusekit::hip
