// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/schedule/warp_specialized.hpp"
#include "fusekit/backend/hip/strip_halo_tiles.hpp"

namespace fusekit::hip {

/// Schedule of a convolution of many channels on sm_90a's tensor cores: channels-last tensors of 16 bits, stride and
/// dilation 1, one group, at least 2 taps, no operator that depends on the pixel. A tile has Rows rows of y, 32, and 8
/// columns and 128 channels, or 16 columns and 64 channels. For each 64 channels of x TMA loads its pixels of x once
/// for all taps, halo included, and the filters tap by tap. Errors: the first failed condition with its value,
/// "StripHalo: stages of filters = 3 is below 4".
template <int Rows = HaloStripShape::rows>
struct StripHalo {
    static constexpr int strip_rows = Rows, threads = 3 * 128, blocks = 1;
};

template <class Schedule>
concept StripHaloSchedule = HasBlocks<Schedule> && requires { Schedule::strip_rows; };

using DefaultStripHalo = StripHalo<>;

/// Entry of StripHalo in the list of schedules (dispatch/list.hpp): its name, conditions and estimated time.
struct StripHaloEntry : TmaEntry<StripHaloEntry> {
    static constexpr char const* name = "StripHalo";

    template <class Schedule>
    static constexpr bool describes = StripHaloSchedule<Schedule>;

    template <class T>
    FUSEKIT_H static constexpr PlanConditions conditions(PlanTraits const& plan) {
        PlanConditions result = TmaEntry<StripHaloEntry>::conditions<T>(plan);
        result.pool = !plan.pools || !plan.by_pixel;
        return result;
    }

    template <class Schedule>
    struct CanImplement {
        template <class X, class BoundPlan>
        FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
            using Plan = typename BoundPlan::Plan;
            using T = ElementOf<X>;
            constexpr PlanConditions plan = conditions<T>(traits_of<Plan, T>());
            constexpr bool rows = Schedule::strip_rows == HaloStripShape::rows, channelwise = is_channelwise<Plan>;
            static_assert(plan.factors, "StripHalo: x and weights must both be half or bfloat16");
            static_assert(plan.prologue, "StripHalo: no operator before the Conv: use MatrixGemm");
            static_assert(plan.pool,
                          "StripHalo: a Pool follows operators that depend on the channel alone: use MatrixGemm");
            static_assert(plan.totals, "StripHalo: no ChannelStatistics in the plan: use WarpSpecialized");
            static_assert(channelwise,
                          "StripHalo: no Amax, and no operator that reads a tensor or depends on the pixel: use "
                          "WarpSpecialized");
            static_assert(rows, "StripHalo: Rows must be 32");
            return plan.met() && rows && channelwise;
        }
    };

    /// True if the epilogue depends on channels alone.
    template <class Plan>
    static constexpr bool is_channelwise = Plan::Epilogue::maxima == 0 && !Plan::Epilogue::reads_image &&
                                           !Plan::Epilogue::per_pixel && !Plan::Epilogue::reads_named;

    /// Returns the first unmet condition of a plan of elements T and results U that meets conditions(); extents are not
    /// checked.
    template <class Plan, class T, class U>
    FUSEKIT_H static consteval Unmet unmet_by_plan() {
        if (Unmet const unmet = WarpSpecializedEntry::unmet_by_plan<Plan, T, U>()) return unmet;
        if (count_phases<Plan>() > 1)
            return detail::holds(false, "a TransposedConv with a stride has phases", "use WarpSpecialized");
        if (!is_channelwise<Plan>)
            return detail::holds(false, "an operator depends on the pixel", "use WarpSpecialized");
        return detail::unmet_by_taps<Plan>(detail::unmet_by_unit_steps);
    }

    template <class Schedule, class T, class U>
    FUSEKIT_H static constexpr Unmet can_implement(ConvCase const& of) {
        char const* const fix = "use WarpSpecialized";
        HaloStripShape const shape = HaloStripShape::of(of.filter, of.y[1]);
        return detail::first_unmet(
            detail::unmet_by_channel_strides(of), detail::equal("groups", of.product.groups, 1, fix),
            detail::unmet_by_steps(of.filter),
            // limits the pixels of a tile of x before their bytes are computed
            detail::at_most("R", of.filter.size[0], 64, fix), detail::at_most("S", of.filter.size[1], 64, fix),
            detail::at_least("R * S", shape.taps(), 3, fix),
            // the rows of all images are numbered with R - 1 between images, and windows begin with even numbers
            detail::holds(!of.pools || of.filter.size[0] % 2 == 1, "R is even, before a Pool", fix),
            detail::at_least("stages of filters", shape.stages(), 4, fix),
            detail::at_most("rows of y in all images, with R - 1 between them",
                            of.y[0] * (of.y[2] + of.filter.size[0] - 1), std::int64_t{1} << 30, fix),
            detail::at_most("tiles", shape.tiles(of.y), (std::int64_t{1} << 31) - 1, fix));
    }
    template <class Schedule>
    static constexpr ScheduleFacts facts{.m = Schedule::strip_rows};
    FUSEKIT_H static Text written(ScheduleFacts const& of) { return "StripHalo<" + detail::list_of(of.m) + ">"; }

    FUSEKIT_H static constexpr Estimate cost(ScheduleFacts const&, ConvCase const& of, CostTable const& table,
                                             GpuRates const& rates) {
        if (can_implement<DefaultStripHalo, half, half>(of) || size_of(of.type) != 2) return {};
        if (!of.aligned_pixels || of.copied_bytes > 0 || !of.stores_by_tma || of.totals || of.maxima || of.reads_image)
            return {};
        HaloStripShape const shape = HaloStripShape::of(of.filter, of.y[1]);
        std::int64_t const blocks = detail::divide_up(of.x[1], HaloStripShape::channels);
        Workload const workload{
            .rounds = static_cast<double>(detail::divide_up(shape.tiles(of.y), rates.processors)),
            .steps = static_cast<double>(shape.taps() * blocks),
            .arithmetic = 2 * wgmma_cycles(HaloStripShape::pixels) *
                          static_cast<double>(detail::divide_up(of.x[1], 16)) / static_cast<double>(blocks),
            .cache_bytes = shape.filter_bytes() + static_cast<double>(shape.bytes_of_x()) / shape.taps(),
            .outputs = 2 * 64 * HaloStripShape::pixels};
        return estimate(workload, table.strip_halo, of.product.bytes, table, rates);
    }
};

}  // namespace fusekit::hip
