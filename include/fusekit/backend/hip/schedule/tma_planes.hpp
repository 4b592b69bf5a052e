// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/schedule/gemv.hpp"
#include "fusekit/backend/hip/schedule/planes.hpp"
#include "fusekit/backend/hip/tma_plane_tiles.hpp"

namespace fusekit::hip {

/// Schedule of a 1x1 Conv or TransposedConv of NCHW tensors of 16 bits on sm_90a's tensor cores. TMA loads planes of x,
/// which wgmma reads in MN-major order. A tile is 64 channels of y for each of two warpgroups, or for each tile of one,
/// x one to three groups of 64 pixels (TmaPlaneTiles), which the launch chooses.
///
/// Errors: a call with operands that do not meet a condition throws Error with the first such condition and its value.
template <int Blocks = 1>
struct TmaPlanes {
    static constexpr int threads = 128 * (TmaPlaneTiles::warpgroups + 1), blocks = Blocks,
                         pixels_of_group = TmaPlaneTiles::pixels;
};

template <class Schedule>
concept TmaPlanesSchedule = HasBlocks<Schedule> && requires { Schedule::pixels_of_group; };

using DefaultTmaPlanes = TmaPlanes<>;

/// Entry of TmaPlanes in the list of schedules (dispatch/list.hpp): its name, conditions and estimated time.
struct TmaPlanesEntry : TmaEntry<TmaPlanesEntry> {
    static constexpr char const* name = "TmaPlanes";

    template <class Schedule>
    static constexpr bool describes = TmaPlanesSchedule<Schedule>;

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
            constexpr bool blocks = Schedule::blocks == 1;
            static_assert(plan.factors, "TmaPlanes: x and weights must both be half or bfloat16");
            static_assert(plan.prologue, "TmaPlanes: no operator before the Conv: use MatrixGemm");
            static_assert(plan.pool, "TmaPlanes: no Pool in the plan: use MatrixGemm");
            static_assert(plan.totals, "TmaPlanes: no ChannelStatistics in the plan: use MatrixGemm");
            static_assert(plan.by_pixel,
                          "TmaPlanes: no operator reads or writes another tensor by pixel: use MatrixGemm");
            static_assert(blocks, "TmaPlanes: Blocks must be 1");
            return plan.met() && blocks;
        }
    };

    /// Returns the first condition on the plan, with elements T and results U, that is not met. Precondition:
    /// conditions() has no false member.
    template <class Plan, class T, class U>
    FUSEKIT_H static consteval Unmet unmet_by_plan() {
        if (Unmet const unmet = PlanesEntry::unmet_by_types<Plan, T, U>()) return unmet;
        return detail::holds(GemvEntry::has_single_tap<Plan> || detail::transposes_single_tap<Plan>(),
                             "the filter has several taps, groups or padding", "use Planes");
    }

    template <class Schedule, class T, class U>
    FUSEKIT_H static constexpr Unmet can_implement(ConvCase const& of) {
        return detail::first_unmet(
            detail::holds(of.planes == detail::PlanesOrder::planes,
                          "x's or y's planes are not contiguous at multiples of 16 bytes",
                          "pass them dense, of planes of a multiple of 16 bytes"),
            detail::equal("groups", of.product.groups, 1, "use MatrixGemm"),
            detail::equal("R * S", of.taps, 1, "use Planes"),
            detail::holds(detail::is_single_pixels(of.filter), "the filter has padding or strides", "use MatrixGemm"),
            detail::multiple_of("C", of.x[1], 8, "use MatrixGemm"),
            detail::multiple_of("pixels of a plane", of.x[2] * of.x[3], 8, "use Planes"),
            detail::holds(of.product.m > 0 && of.product.n > 0, "y has no elements", "use MatrixGemm"),
            detail::at_most("pixels times channels of y", of.product.m * of.product.n, std::int64_t{1} << 40,
                            "use MatrixGemm"));
    }
    FUSEKIT_H static Text written(ScheduleFacts const& of) { return "TmaPlanes<" + detail::list_of(of.blocks) + ">"; }

    FUSEKIT_H static constexpr Estimate cost(ScheduleFacts const&, ConvCase const& of, CostTable const& table,
                                             GpuRates const& rates) {
        if (of.type == DataType::float32 || can_implement<DefaultTmaPlanes, half, half>(of)) return {};
        TmaPlaneTiles const tiles =
            TmaPlaneTiles::of(of.x[0], of.x[2] * of.x[3], of.x[1], of.product.n, rates.processors);
        return estimate(Workload{.rounds = 1, .steps = 1, .arithmetic = tiles.cycles(rates.processors)},
                        table.tma_planes, of.product.bytes, table, rates);
    }
};

}  // namespace fusekit::hip
