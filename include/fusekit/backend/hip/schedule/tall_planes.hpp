// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/schedule/planes.hpp"
#include "fusekit/backend/hip/schedule/workload.hpp"
#include "fusekit/backend/hip/tall_plane_tiles.hpp"

namespace fusekit::hip {

/// Schedule of a Conv of NCHW tensors, 16 bits or float, with few channels, on sm_90a. A warpgroup multiplies 64 pixels
/// by 64 filters, by wgmma with x in registers: threads load x from global memory and split it into bfloat16 terms,
/// without SMEM, once for each tap of the filter. Each group of channels has tiles of its own. The CTAs are persistent.
///
/// Errors: a call with operands that do not meet a condition throws Error with the first such condition and its value.
template <int Blocks = 2>
struct TallPlanes {
    static constexpr int threads = 128 * TallPlaneTiles::warpgroups, blocks = Blocks,
                         filters_of_warpgroup = TallPlaneTiles::filters;
};

template <class Schedule>
concept TallPlanesSchedule = HasBlocks<Schedule> && requires { Schedule::filters_of_warpgroup; };

using DefaultTallPlanes = TallPlanes<>;

/// Entry of TallPlanes in the list of schedules (dispatch/list.hpp): its name, conditions and estimated time.
struct TallPlanesEntry : TmaEntry<TallPlanesEntry> {
    static constexpr char const* name = "TallPlanes";

    template <class Schedule>
    static constexpr bool describes = TallPlanesSchedule<Schedule>;

    template <class T>
    FUSEKIT_H static constexpr PlanConditions conditions(PlanTraits const& plan) {
        PlanConditions result = PlanesEntry::conditions<T>(plan);
        result.pool = !plan.pools;
        return result;
    }
    template <class Schedule>
    struct CanImplement {
        template <class X, class BoundPlan>
        FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
            using T = ElementOf<X>;
            constexpr PlanConditions plan = conditions<T>(traits_of<typename BoundPlan::Plan, T>());
            constexpr bool warps = Schedule::threads == 128 * TallPlaneTiles::warpgroups;
            static_assert(plan.factors, "TallPlanes: x and weights must both be half, bfloat16 or float");
            static_assert(plan.products, "TallPlanes: Products<float> needs SIMT arithmetic: use Gemm");
            static_assert(plan.prologue, "TallPlanes: no operator before the Conv: use MatrixGemm");
            static_assert(plan.pool, "TallPlanes: no Pool in the plan: use MatrixGemm");
            static_assert(plan.totals, "TallPlanes: no ChannelStatistics in the plan: use MatrixGemm");
            static_assert(plan.by_pixel,
                          "TallPlanes: no operator reads or writes another tensor by pixel: use MatrixGemm");
            static_assert(warps, "TallPlanes: a block must have 256 threads");
            return plan.met() && warps;
        }
    };

    template <class Plan, class T, class U>
    FUSEKIT_H static consteval Unmet unmet_by_plan() {
        return PlanesEntry::unmet_by_plan<Plan, T, U>();
    }

    template <class Schedule, class T, class U>
    FUSEKIT_H static constexpr Unmet can_implement(ConvCase const& of) {
        using Tiles = TallPlaneTiles;
        bool const windows = !detail::is_single_pixels(of.filter.groups(1));
        auto const reach = [&](int mode) {
            return (std::int64_t{of.filter.size[mode]} - 1) * of.filter.dilations[mode] + 1;
        };
        return detail::first_unmet(
            detail::holds(of.dense_planes, "x's or y's planes are not dense", "pass them dense"),
            detail::at_most("C * R * S", windows ? of.product.gemm_k : 0, Tiles::max_k, "use Planes"),
            detail::at_most("taps of a mode",
                            of.filter.size[0] > of.filter.size[1] ? of.filter.size[0] : of.filter.size[1],
                            Tiles::max_taps - 1, "use MatrixGemm"),
            detail::at_most("elements of an image of x", (of.x[1] + 1) * (of.x[2] + reach(0)) * (of.x[3] + reach(1)),
                            (std::int64_t{1} << (of.x[0] > 1 ? 30 : 31)) - 1, "use MatrixGemm"));
    }
    FUSEKIT_H static Text written(ScheduleFacts const& of) { return "TallPlanes<" + detail::list_of(of.blocks) + ">"; }

    FUSEKIT_H static constexpr Estimate cost(ScheduleFacts const& schedule, ConvCase const& of, CostTable const& table,
                                             GpuRates const& rates) {
        using Tiles = TallPlaneTiles;
        if (of.product.m == 0 || can_implement<DefaultTallPlanes, float, float>(of)) return {};
        bool const windows = !detail::is_single_pixels(of.filter.groups(1)), floats = of.type == DataType::float32;
        if (windows && of.taps > 1 && !of.contiguous_taps) return {};
        constexpr std::int64_t most = Tiles::filters, panel = Tiles::blocks * Tiles::block;
        std::int64_t const k = of.product.gemm_k, filters = of.product.n < most ? of.product.n : most,
                           columns = of.product.groups * detail::divide_up(of.product.n, most),
                           tiles = detail::divide_up(of.product.m, std::int64_t{Tiles::pixels}) * columns,
                           of_processor = detail::divide_up(tiles, std::int64_t{rates.processors}),
                           most_together = std::int64_t{schedule.blocks} * Tiles::warpgroups,
                           together = of_processor < most_together ? of_processor : most_together,
                           panels = detail::divide_up(k, panel),
                           blocks = detail::divide_up(k, std::int64_t{Tiles::block});
        double const rounds = detail::rounds_of(tiles, rates.processors * static_cast<int>(most_together), last_round),
                     mmas = (floats ? 6.0 : 1.0) * (k > 16 ? 2 : 1);
        Costs const& costs = floats ? (windows ? table.float_tall_planes_taps : table.float_tall_planes)
                                    : (windows ? table.tall_planes_taps : table.tall_planes);
        // A tile stores its results as if it had 32 more filters; filters of several panels are loaded for each tile.
        return estimate(
            Workload{.rounds = rounds,
                     .steps = static_cast<double>(detail::divide_up(k, std::int64_t{Tiles::step})),
                     .arithmetic = mmas * wgmma_cycles(Tiles::filters) * static_cast<double>(together),
                     .outputs = static_cast<double>(together * Tiles::pixels * (filters + 32)),
                     .exchanges = table.tall_planes_filters * static_cast<double>(blocks) * (panels > 1 ? rounds : 1)},
            costs, of.product.bytes, table, rates);
    }

private:
    static constexpr double last_round = 0.5;  ///< least cost of a partly filled last round, as a fraction of a round
};

}  // namespace fusekit::hip
