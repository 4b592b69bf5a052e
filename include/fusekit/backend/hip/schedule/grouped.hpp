// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/grouped_tma_tiles.hpp"
#include "fusekit/backend/hip/schedule/entry.hpp"
#include "fusekit/backend/hip/schedule/tma_operands.hpp"
#include "fusekit/backend/hip/schedule/warp_specialized.hpp"

namespace fusekit::hip {

/// Schedule of a convolution with several groups of channels on tensor cores by mma.sync, from sm_80 on: half or
/// bfloat16, groups of an even number of channels of x and of y, at least 4. A CTA stages the pixels of x that
/// its tile's windows read in SMEM, and the filters of its groups as MMA fragments; an MMA multiplies 16 pixels by 8
/// filters. If C / groups and K / groups are multiples of 8, an MMA has channels of one group only. Otherwise its
/// weights are zero for channels of other groups, and accumulators that are not finite are recomputed by FMAs over
/// their own group. On sm_90a, 3 x 3 filters of stride 1 or 2 and groups of 4, 8, 16, 32 or 64 channels of x and as
/// many of y run on a kernel with TMA loads and stores (mainloop/grouped_tma.hpp) if x and y are channels-last and of
/// the same type.
///
/// Errors: a call with operands that do not meet a condition throws Error with the first such condition and its value.
template <int Threads = 128>
struct Grouped {
    static constexpr int threads = Threads, blocks = 384 / Threads, unit_filters = GroupedTile::unit;
};

template <class Schedule>
concept GroupedSchedule = HasBlocks<Schedule> && requires { Schedule::unit_filters; };

using DefaultGrouped = Grouped<128>;

/// Entry of Grouped in the list of schedules (dispatch/list.hpp): its name, conditions and estimated time.
struct GroupedEntry : ConvEntry {
    static constexpr char const* name = "Grouped";

    template <class Schedule>
    static constexpr bool describes = GroupedSchedule<Schedule>;

    template <class T>
    FUSEKIT_H static constexpr PlanConditions conditions(PlanTraits const& plan) {
        return PlanConditions::of_epilogue(plan, detail::is_16_bits<T> && plan.same_weights);
    }
    template <class Schedule>
    struct CanImplement {
        template <class X, class BoundPlan>
        FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
            using Plan = typename BoundPlan::Plan;
            using T = ElementOf<X>;
            constexpr PlanConditions plan = conditions<T>(traits_of<Plan, T>());
            constexpr bool threads = Schedule::threads == 128 || Schedule::threads == 256, window = is_window<Plan>;
            static_assert(window,
                          "Grouped: the plan must have a Conv or TransposedConv of signals or images whose filter "
                          "may have groups; a TransposedConv with strides also needs a filter without dilation");
            static_assert(plan.factors, "Grouped: x and weights must both be half or bfloat16: use Gemm");
            static_assert(plan.prologue, "Grouped: no operator before the Conv: use NativeGemm");
            static_assert(plan.pool, "Grouped: no Pool in the plan: use NativeGemm");
            static_assert(plan.totals, "Grouped: no ChannelStatistics in the plan: use NativeGemm");
            static_assert(threads, "Grouped: a block must have 128 or 256 threads");
            return plan.met() && threads && window;
        }
    };

    /// True unless a head is a TransposedConv with strides and dilation, whose phases read irregular taps.
    template <class Head>
    FUSEKIT_H static consteval bool has_phases_without_dilation() {
        if constexpr (detail::spreads<problem::GeometryOf<Head>>) {
            constexpr auto dilations = Head::filter.dilations;  // of one, two or three modes
            return dilations[0] == 1 && dilations[1] == 1 && dilations[2] == 1;
        } else {
            return true;
        }
    }
    /// True if a plan's head is a Conv or TransposedConv of signals or images whose filter may have several groups of
    /// channels.
    template <class Plan>
    FUSEKIT_H static consteval bool has_window() {
        if constexpr (!detail::has_head_of_images<Plan>()) return false;
        else return Plan::Head::may_be_grouped && has_phases_without_dilation<typename Plan::Head>();
    }
    template <class Plan>
    static constexpr bool is_window = has_window<Plan>();
    template <class Plan, class T, class U>
    static constexpr bool has_kernel =
        detail::targets_sm80(arch::All{}) && is_window<Plan> && conditions<T>(traits_of<Plan, T>()).met() && Element<U>;

    /// True if a TransposedConv with strides has 3 x 3 taps without dilation and strides of 2.
    template <class Head>
    FUSEKIT_H static consteval bool may_have_tma_phases() {
        if constexpr (Head::collapsed_space != 2) return false;
        else return Head::filter.size == PerMode<2>{3, 3} && Head::filter.strides == PerMode<2>{2, 2};
    }
    /// True if a head's filter may have 3 x 3 taps without dilation, and strides of 1 or 2, as GroupedTmaConv needs.
    template <class Head>
    FUSEKIT_H static consteval bool may_have_tma_window() {
        if constexpr (detail::spreads<problem::GeometryOf<Head>>) return may_have_tma_phases<Head>();
        else if constexpr (requires { Head::collapsed; })
            return Head::collapsed.size == PerMode<2>{3, 3} && Head::collapsed.dilations == PerMode<2>{1, 1} &&
                   Head::collapsed.strides[0] == Head::collapsed.strides[1] && Head::collapsed.strides[0] <= 2;
        else return true;
    }
    template <class Plan>
    FUSEKIT_H static consteval bool has_tma_window() {
        if constexpr (is_window<Plan>) return may_have_tma_window<typename Plan::Head>();
        else return false;
    }
    /// True if a plan also has the kernel of sm_90a, GroupedTmaConv.
    template <class Plan, class T, class U>
    static constexpr bool has_tma_kernel = has_kernel<Plan, T, U> && WarpSpecializedEntry::has_kernel<Plan, T, U> &&
                                           std::is_same_v<T, U> && has_tma_window<Plan>();

    /// True if GPUs of the architecture have mma.sync of 16-bit elements.
    FUSEKIT_H static constexpr bool runs_on(Architecture architecture) {
        return with_tag(architecture, []<class Tag>(Tag) { return std::is_base_of_v<arch::Sm80, Tag>; });
    }

    template <class Schedule, class T, class U>
    FUSEKIT_H static constexpr Unmet can_implement(ConvCase const& of) {
        if (Unmet const unmet = unmet_by_channels(of)) return unmet;
        return unmet_by_tile(choose_grouped_tile(problem_of(of), 1).tile);
    }
    template <class Schedule>
    static constexpr ScheduleFacts facts{.m = Schedule::threads};
    FUSEKIT_H static Text written(ScheduleFacts const& of) { return "Grouped<" + detail::list_of(of.m) + ">"; }

    FUSEKIT_H static constexpr Estimate cost(ScheduleFacts const&, ConvCase const& of, CostTable const& table,
                                             GpuRates const& rates) {
        if (!runs_on(rates.architecture) || unmet_by_channels(of)) return {};
        GroupedProblem const problem = problem_of(of);
        bool const planes = of.x_channel_stride != 1 || of.y_channel_stride != 1;
        if (!planes && detail::has_tma_groups(problem) && detail::is_sm90a(rates.architecture)) {
            GroupedTmaChoice const choice = choose_tma_tile(problem, rates.processors);
            if (choice.tile.rows > 0)
                return estimate(Workload{.rounds = 1, .steps = 1, .arithmetic = choice.cycles}, table.grouped_tma,
                                of.product.bytes, table, rates);
        }
        GroupedChoice const choice = choose_grouped_tile(problem, rates.processors);
        if (choice.tile.rows == 0) return {};
        return estimate(Workload{.rounds = 1, .steps = 1, .arithmetic = choice.cycles},
                        planes ? table.grouped_planes : table.grouped, of.product.bytes, table, rates);
    }

    FUSEKIT_H static constexpr GroupedProblem problem_of(ConvCase const& of) {
        if (of.spread.strides != PerMode<2>{1, 1})
            return grouped_problem(of.x, of.y, detail::TransposedFilter<2, true>(of.spread));
        Filter<2> filter = of.filter;
        filter.group_count = static_cast<int>(of.product.groups);
        return grouped_problem(of.x, of.y, filter);
    }
    FUSEKIT_H static constexpr Unmet unmet_by_tile(GroupedTile const& tile) {
        return detail::holds(tile.rows > 0, "no tile of x and its filters fits 96 KB of shared memory",
                             "use NativeGemm");
    }

private:
    /// Returns the first condition on channels that a convolution does not meet.
    FUSEKIT_H static constexpr Unmet unmet_by_channels(ConvCase const& of) {
        std::int64_t const groups = of.product.groups > 0 ? of.product.groups : 1;
        char const* const fix = "use NativeGemm";
        return detail::first_unmet(detail::at_least("groups", of.product.groups, 2, "use MatrixGemm or NativeGemm"),
                                   detail::at_least("C / groups", of.x[1] / groups, 4, "use Depthwise or Direct"),
                                   detail::multiple_of("C / groups", of.x[1] / groups, 2, fix),
                                   detail::at_least("K / groups", of.y[1] / groups, 4, "use Direct"),
                                   detail::multiple_of("K / groups", of.y[1] / groups, 2, fix),
                                   detail::multiple_of("C", of.x[1], 8, fix),
                                   detail::multiple_of("K", of.y[1], 8, fix));
    }
};

}  // namespace fusekit::hip
