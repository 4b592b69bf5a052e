// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/col2im_tiles.hpp"
#include "fusekit/backend/hip/schedule/tma_operands.hpp"
#include "fusekit/backend/hip/schedule/warp_specialized.hpp"
#include "fusekit/backend/hip/tuning/tile_costs.hpp"

namespace fusekit::hip {

/// Schedule of a TransposedConv of stride 1 to at most 8 channels of y, such as the gradient of a network's first layer
/// by its image, on sm_90a: channels-last x of 16 bits, one group. mma.sync multiplies each pixel of x by the filters
/// of all taps and channels of y; these products stay in SMEM, as floats, and each pixel of y adds those of its window
/// (col2im). A CTA loads the pixels of a tile, halo included, by TMA.
///
/// Errors: a call with operands that do not meet a condition throws Error with the first such condition and its value.
template <int Blocks = 2>
struct Col2im {
    static constexpr int threads = Col2imShape::threads, blocks = Blocks, max_channels = Col2imShape::max_channels,
                         col2im_bytes = Col2imShape::shared_bytes;
};

template <class Schedule>
concept Col2imSchedule = HasBlocks<Schedule> && requires { Schedule::col2im_bytes; };

using DefaultCol2im = Col2im<>;

/// Entry of Col2im in the list of schedules (dispatch/list.hpp): its name, conditions and estimated time.
struct Col2imEntry : TmaEntry<Col2imEntry> {
    static constexpr char const* name = "Col2im";

    template <class Schedule>
    static constexpr bool describes = Col2imSchedule<Schedule>;

    template <class Schedule>
    struct CanImplement {
        template <class X, class BoundPlan>
        FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
            using Plan = typename BoundPlan::Plan;
            using T = ElementOf<X>;
            constexpr PlanConditions plan = conditions<T>(traits_of<Plan, T>());
            constexpr bool window = is_window<Plan>, warps = Schedule::threads == Col2imShape::threads;
            static_assert(
                window,
                "Col2im: the plan must have a TransposedConv of signals or images with stride 1, several taps "
                "and one group");
            static_assert(plan.factors, "Col2im: x and weights must both be half or bfloat16");
            static_assert(plan.prologue, "Col2im: no operator before the TransposedConv: use MatrixGemm");
            static_assert(plan.pool, "Col2im: no Pool in the plan: use MatrixGemm");
            static_assert(plan.totals, "Col2im: no ChannelStatistics in the plan: use MatrixGemm");
            static_assert(warps, "Col2im: a block must have 256 threads");
            return plan.met() && window && warps;
        }
    };

    template <class Plan>
    FUSEKIT_H static consteval bool has_window() {
        if constexpr (!detail::has_head_of_images<Plan>()) return false;
        else if constexpr (!has_transposed_conv<Plan>) return false;
        else if constexpr (detail::spreads<problem::GeometryOf<typename Plan::Head>>) return false;
        else {
            constexpr Filter<2> filter = Plan::Head::filter;
            return filter.group_count == 1 && filter.size[0] * filter.size[1] > 1 && filter.size[0] <= 16 &&
                   filter.size[1] <= 16;
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
            detail::holds(is_window<Plan>, "the plan has no TransposedConv with stride 1, several taps and one group",
                          "use MatrixGemm"),
            detail::unmet_by_element<U>());
    }

    template <class Schedule, class T, class U>
    FUSEKIT_H static constexpr Unmet can_implement(ConvCase const& of) {
        return detail::first_unmet(
            detail::equal("x's channel stride", of.x_channel_stride, 1, "use MatrixGemm"),
            detail::equal("groups", of.product.groups, 1, "use MatrixGemm"),
            detail::holds(of.transposed, "the plan has no TransposedConv", "use WarpSpecialized"),
            detail::at_most("K", of.y[1], Col2imShape::max_channels, "use WarpSpecialized"),
            unmet_by_shape(Col2imShape::of(of.x[1], of.y, of.filter)));
    }
    FUSEKIT_H static Text written(ScheduleFacts const& of) { return "Col2im<" + detail::list_of(of.blocks) + ">"; }

    FUSEKIT_H static constexpr Estimate cost(ScheduleFacts const& schedule, ConvCase const& of, CostTable const& table,
                                             GpuRates const& rates) {
        if (can_implement<DefaultCol2im, half, half>(of) || of.x[1] % 8 != 0) return {};
        Col2imShape const shape = Col2imShape::of(of.x[1], of.y, of.filter);
        std::int64_t const tiles = of.y[0] * shape.tiles_of_image(of.y[2], of.y[3]),
                           ctas = std::int64_t{schedule.blocks} * rates.processors,
                           resident = tiles > rates.processors ? schedule.blocks : 1;
        double const cycles = Col2imTileCosts::fragments * shape.m_blocks() * shape.pairs * shape.k_steps;
        return estimate(
            Workload{.rounds = static_cast<double>(detail::divide_up(tiles, ctas)),
                     .steps = 1,
                     .arithmetic = cycles * static_cast<double>(resident),
                     .outputs = static_cast<double>(resident * of.y[1] * of.taps * shape.rows * shape.columns())},
            table.col2im, of.product.bytes, table, rates);
    }

    FUSEKIT_H static constexpr Unmet unmet_by_shape(Col2imShape const& shape) {
        return detail::at_least("rows of y in a tile that fits shared memory", shape.rows, 1, "use WarpSpecialized");
    }
};

}  // namespace fusekit::hip
