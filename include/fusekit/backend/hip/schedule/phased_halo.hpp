// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/phased_halo_tiles.hpp"
#include "fusekit/backend/hip/schedule/warp_specialized.hpp"

namespace fusekit::hip {

/// Schedule of a TransposedConv with a stride, of few channels of y, on sm_90a's tensor cores: channels-last tensors of
/// 16 bits, dilation 1, one group. All phases of the stride are columns of one product, whose windows cover those of
/// each phase; one TMA load reads a tile's pixels of x, halo included, for all taps and phases. The filters of a CTA's
/// columns stay in SMEM. Accumulators that are not finite are computed again in multiply-adds.
///
/// Errors: a call with operands that do not meet a condition throws Error with the first such condition and its value.
template <int Positions = PhasedHaloShape::positions>
struct PhasedHalo {
    static constexpr int positions = Positions, threads = 3 * 128, blocks = 1;
};

template <class Schedule>
concept PhasedHaloSchedule = HasBlocks<Schedule> && requires { Schedule::positions; };

using DefaultPhasedHalo = PhasedHalo<>;

/// Entry of PhasedHalo in the list of schedules (dispatch/list.hpp): its name, conditions and estimated time.
struct PhasedHaloEntry : TmaEntry<PhasedHaloEntry> {
    static constexpr char const* name = "PhasedHalo";

    template <class Schedule>
    static constexpr bool describes = PhasedHaloSchedule<Schedule>;

    template <class Schedule>
    struct CanImplement {
        template <class X, class BoundPlan>
        FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
            using Plan = typename BoundPlan::Plan;
            using T = ElementOf<X>;
            constexpr PlanConditions plan = conditions<T>(traits_of<Plan, T>());
            constexpr bool positions = Schedule::positions == PhasedHaloShape::positions, window = is_window<Plan>;
            static_assert(window,
                          "PhasedHalo: the plan must have a TransposedConv of signals or images with a stride, "
                          "without dilation, groups or Amax");
            static_assert(plan.factors, "PhasedHalo: x and weights must both be half or bfloat16");
            static_assert(plan.prologue, "PhasedHalo: no operator before the TransposedConv: use MatrixGemm");
            static_assert(plan.pool, "PhasedHalo: no Pool in the plan: use MatrixGemm");
            static_assert(plan.totals, "PhasedHalo: no ChannelStatistics in the plan: use MatrixGemm");
            static_assert(positions, "PhasedHalo: Positions must be 128");
            return plan.met() && positions && window;
        }
    };

    template <class Plan>
    FUSEKIT_H static consteval bool has_window() {
        if constexpr (!detail::has_head_of_images<Plan>()) return false;
        else if constexpr (!detail::spreads<problem::GeometryOf<typename Plan::Head>>) return false;
        else {
            constexpr Filter<2> filter = Plan::Head::filter;
            return filter.dilations == PerMode<2>{1, 1} && filter.group_count == 1 && Plan::Epilogue::maxima == 0;
        }
    }
    template <class Plan>
    static constexpr bool is_window = has_window<Plan>();

    /// Returns the first unmet condition of a plan of elements T and results U that meets conditions(); extents are not
    /// checked.
    template <class Plan, class T, class U>
    FUSEKIT_H static consteval Unmet unmet_by_plan() {
        return detail::first_unmet(
            detail::unmet_by_target(),
            detail::holds(is_window<Plan>, "the plan has no TransposedConv with a stride, one group and dilation 1",
                          "use MatrixGemm"),
            detail::holds(std::is_same_v<T, U>, "y's type is not x's", "use MatrixGemm"));
    }

    template <class Schedule, class T, class U>
    FUSEKIT_H static constexpr Unmet can_implement(ConvCase const& of) {
        if (Unmet const unmet = detail::unmet_by_channels_last(of)) return unmet;
        return unmet_by_shape(phased_halo_shape(of.x, of.y, of.spread));
    }
    template <class Schedule>
    static constexpr ScheduleFacts facts{.m = Schedule::positions, .n = PhasedHaloShape::most_columns};
    FUSEKIT_H static Text written(ScheduleFacts const& of) { return "PhasedHalo<" + detail::list_of(of.m) + ">"; }

    FUSEKIT_H static constexpr Estimate cost(ScheduleFacts const&, ConvCase const& of, CostTable const& table,
                                             GpuRates const& rates) {
        if (can_implement<DefaultPhasedHalo, half, half>(of) || of.x[1] % 8 != 0) return {};
        PhasedHaloShape const shape = phased_halo_shape(of.x, of.y, of.spread);
        std::int64_t const tiles = shape.tiles(of.x[0]) * shape.blocks;
        Costs costs = table.phased_halo;
        // the filters that a CTA copies from L2, in pairs of channels
        costs.launch += table.phased_filter * shape.k_tiles * 32 * shape.taps[0] * shape.taps[1] * shape.filter_rows();
        return estimate(Workload{.rounds = static_cast<double>(detail::divide_up(tiles, rates.processors)),
                                 .steps = static_cast<double>(shape.k_tiles),
                                 .arithmetic = static_cast<double>(shape.mma_cycles()) / shape.k_tiles,
                                 .cache_bytes = static_cast<double>(shape.bytes_of_x()),
                                 .outputs = static_cast<double>(shape.positions * shape.rows_of_block * shape.width)},
                        costs, of.product.bytes, table, rates);
    }

    FUSEKIT_H static constexpr Unmet unmet_by_shape(PhasedHaloShape const& shape) {
        return detail::at_least("stages in shared memory", shape.stages, 2, "use WarpSpecialized or MatrixGemm");
    }
};

}  // namespace fusekit::hip
