// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/fastest_gather_tiles.hpp"
#include "fusekit/backend/hip/schedule/planes.hpp"

namespace fusekit::hip {

/// Schedule of a Conv of NCHW tensors of 16 bits on sm_90a's tensor cores, with any stride and dilation and at most 64
/// taps. A CTA computes 128 channels of 240 positions of y, or 64 channels of 480 (GatherTiles). Producer warps gather
/// x into SMEM.
///
/// Errors: a call with operands that do not meet a condition throws Error with the first such condition and its value.
template <int Consumers = 2>
struct GatheredPlanes {
    static constexpr int gathering_consumers = Consumers, threads = (Consumers + 2) * 128, blocks = 1;
};

template <class Schedule>
concept GatheredPlanesSchedule = HasBlocks<Schedule> && requires { Schedule::gathering_consumers; };

using DefaultGatheredPlanes = GatheredPlanes<2>;

/// Entry of GatheredPlanes in the list of schedules (dispatch/list.hpp): its name, conditions and estimated time.
struct GatheredPlanesEntry : TmaEntry<GatheredPlanesEntry> {
    static constexpr char const* name = "GatheredPlanes";

    template <class Schedule>
    static constexpr bool describes = GatheredPlanesSchedule<Schedule>;
    template <class Schedule, class T, PlanTraits plan>
    static constexpr bool splits = sizeof(T) == 2;

    template <class T>
    FUSEKIT_H static constexpr PlanConditions conditions(PlanTraits const& plan) {
        return PlanesEntry::conditions_of_16_bits<T>(plan);
    }
    template <class Schedule>
    struct CanImplement {
        template <class X, class BoundPlan>
        FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
            using T = ElementOf<X>;
            constexpr PlanConditions plan = conditions<T>(traits_of<typename BoundPlan::Plan, T>());
            constexpr bool consumers = Schedule::gathering_consumers == 2;
            static_assert(plan.factors, "GatheredPlanes: x and weights must both be half or bfloat16");
            static_assert(plan.prologue, "GatheredPlanes: no operator before the Conv: use MatrixGemm");
            static_assert(plan.pool, "GatheredPlanes: no Pool in the plan: use MatrixGemm");
            static_assert(plan.totals, "GatheredPlanes: no ChannelStatistics in the plan: use MatrixGemm");
            static_assert(plan.by_pixel,
                          "GatheredPlanes: no operator reads or writes another tensor by pixel: use MatrixGemm");
            static_assert(consumers, "GatheredPlanes: Consumers must be 2");
            return plan.met() && consumers;
        }
    };

    template <class Plan, class T, class U>
    FUSEKIT_H static consteval Unmet unmet_by_plan() {
        if (Unmet const unmet = PlanesEntry::unmet_by_plan<Plan, T, U>()) return unmet;
        return detail::holds(is_window<Plan>, "the filter is 1x1 with stride 1", "use Planes");
    }
    /// True if a plan's filter may be other than 1x1 with stride 1, for which Planes is faster.
    template <class Plan>
    FUSEKIT_H static consteval bool has_windows() {
        if constexpr (!detail::has_head_of_images<Plan>()) return false;
        else if constexpr (!requires { Plan::Head::may_be_single_pixels; }) return false;
        else return Plan::Head::longest > 1 || !Plan::Head::may_be_single_pixels;
    }
    template <class Plan>
    static constexpr bool is_window = has_windows<Plan>();

    template <class Schedule, class T, class U = T>
    FUSEKIT_H static constexpr Unmet can_implement(ConvCase const& of) {
        if (Unmet const unmet = unmet_by_operands(of)) return unmet;
        return unmet_by_tiles(gather_tiles(of.x, of.y, of.filter, 1));
    }

    template <class Schedule>
    static constexpr ScheduleFacts facts{
        .m = GatherTiles::pixels, .n = 2 * GatherTiles::filters, .parts = Schedule::gathering_consumers};
    FUSEKIT_H static Text written(ScheduleFacts const& of) {
        return "GatheredPlanes<" + detail::list_of(of.parts) + ">";
    }

    FUSEKIT_H static constexpr Estimate cost(ScheduleFacts const& schedule, ConvCase const& of, CostTable const& table,
                                             GpuRates const& rates) {
        if (of.type == DataType::float32 || of.product.groups != 1 || of.product.n < min_matrix_channels) return {};
        // Planes is measured for 1x1 filters with stride 1; this schedule is not.
        if (unmet_by_operands(of) || (of.taps > 1 && !of.contiguous_taps) || detail::is_single_pixels(of.filter))
            return {};
        if (!schedule.splits) return time_of(1, rates.processors, of, table.gathered_planes, table, rates);
        return detail::cluster_split_estimate(8, table, rates, [&](int split_k, int processors) {
            return time_of(split_k, processors, of, table.shared_gathered_planes, table, rates);
        });
    }

    FUSEKIT_H static constexpr Unmet unmet_by_tiles(GatherTiles const& tiles) {
        return detail::at_least("stages in shared memory", tiles.stages, 1, "use MatrixGemm");
    }

private:
    /// Estimated time if `split_k` CTAs reduce each tile.
    FUSEKIT_H static constexpr Estimate time_of(int split_k, int processors, ConvCase const& of, Costs const& costs,
                                                CostTable const& table, GpuRates const& rates) {
        GatherTiles const tiles = gather_tiles(of.x, of.y, of.filter, processors, split_k);
        int const blocks = tiles.stages > 0 ? tiles.channel_blocks(static_cast<int>(of.x[1])) : 0;
        if (blocks < split_k) return {};
        return estimate(Workload{.rounds = static_cast<double>(
                                     detail::divide_up(static_cast<std::int64_t>(tiles.tiles) * split_k, processors)),
                                 .steps = static_cast<double>(detail::divide_up(blocks, split_k) * tiles.slices),
                                 .arithmetic = detail::gather_cycles(tiles),
                                 .cache_bytes = detail::gathered_bytes(tiles),
                                 .outputs = 2.0 * GatherTiles::filters * GatherTiles::pixels},
                        costs, of.product.bytes, table, rates);
    }
    FUSEKIT_H static constexpr Unmet unmet_by_operands(ConvCase const& of) {
        return detail::first_unmet(detail::holds(of.planes == detail::PlanesOrder::planes,
                                                 "x's or y's planes are not contiguous at multiples of 16 bytes",
                                                 "pass them dense, of planes of a multiple of 16 bytes"),
                                   detail::at_most("groups", of.filter.group_count, 1, "use MatrixGemm"),
                                   detail::multiple_of("C", of.x[1], 8, "use MatrixGemm"),
                                   detail::at_most("taps", of.taps, GatherTiles::max_taps, "use MatrixGemm"));
    }
};

}  // namespace fusekit::hip
