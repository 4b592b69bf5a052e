// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/halo_shape.hpp"
#include "fusekit/backend/hip/schedule/warp_specialized.hpp"

namespace fusekit::hip {

/// Schedule of a convolution on sm_90a's tensor cores: channels-last, stride and dilation 1, at most 512 channels of x
/// and of y, or 64 of x for 8-bit floats. A tile has 64 channels and rows of y, whole or a range of columns, at most
/// Pixels pixels with the gaps between rows (232; 240 for 8 bits), and one TMA load per 64 channels of x reads the
/// tile's pixels of x, halo included, for all taps, at most max_taps. The filters stay in SMEM if x has at most 64
/// channels. Of several groups of channels of 16-bit elements, at most 64 a group, a CTA computes one, in tiles of
/// whole rows. Errors: the first failed condition with its value, "Halo: C = 520 exceeds 512".
template <int Pixels = 232>
struct Halo {
    static constexpr int pixels = Pixels, channels = 64, max_taps = 9, max_stages = 8, halo_bytes = 150 * 1024;
    static constexpr int max_channels = 512, max_filters = 512;  ///< largest numbers of channels of x and of y
    static constexpr int consumers = 2, threads = (consumers + 1) * 128, blocks = 1;
};

/// Halo schedule that compiles one kernel: TiledHaloGemm, or HaloGemm (HaloEntry::is_tiled()).
template <class Schedule, bool tiled>
struct HaloKernel : Schedule {
    using Whole = Schedule;
    static constexpr bool is_tiled = tiled;
};

template <class Schedule>
concept HaloSchedule = HasBlocks<Schedule> && requires {
    Schedule::pixels, Schedule::channels, Schedule::max_taps, Schedule::max_stages, Schedule::halo_bytes,
        Schedule::max_channels, Schedule::max_filters, Schedule::consumers;
};

template <class T>
using DefaultHalo = Halo<sizeof(T) == 1 ? 240 : 232>;

namespace detail {

template <class Schedule, class T, class U>
using HaloShapeOf = HaloShape<Schedule::pixels, bulk_row_bytes(Schedule::channels, sizeof(T)),
                              static_cast<int>(sizeof(U)) * Schedule::channels>;

}  // namespace detail

/// Work of `tiles` tiles of n channels of y, each repeated for `channel_tiles` times as many channels, for the cost
/// model: a step is a 64 x m x 64 product of one tap and one of `blocks` stages of x, whose channels have `pixel_bytes`
/// bytes. With several stages its filters are read from L2.
FUSEKIT_H constexpr Workload halo_workload(ScheduleFacts const& schedule, std::int64_t tiles,
                                           std::int64_t channel_tiles, std::int64_t blocks, int taps,
                                           std::int64_t pixel_bytes, int processors) {
    std::int64_t const per_round = processors / channel_tiles;  // tiles of the same channels in a round
    return {.rounds = static_cast<double>(detail::divide_up(tiles, per_round > 0 ? per_round : 1)),
            .steps = static_cast<double>(taps * blocks),
            .arithmetic = wgmma_cycles(schedule.m) * static_cast<double>(detail::divide_up(pixel_bytes, 32)) /
                          static_cast<double>(blocks),
            .cache_bytes = blocks > 1 ? static_cast<double>(schedule.n * 128) : 0,
            .outputs = static_cast<double>(schedule.m * schedule.n)};
}

/// Entry of Halo in the list of schedules (dispatch/list.hpp): its name, conditions and estimated time.
struct HaloEntry : TmaEntry<HaloEntry> {
    static constexpr char const* name = "Halo";
    /// Pixels of y that ChannelStatistics of several tiles need.
    static constexpr int least_pixels_of_totals = 65;

    template <class Schedule>
    static constexpr bool describes = HaloSchedule<Schedule>;

    template <class T>
    FUSEKIT_H static constexpr PlanConditions conditions(PlanTraits const& plan) {
        PlanConditions result = WarpSpecializedEntry::conditions<T>(plan);
        result.pool = result.pool && !plan.taps;
        return result;
    }
    template <class Schedule>
    struct CanImplement {
        template <class X, class BoundPlan>
        FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
            using T = ElementOf<X>;
            constexpr PlanConditions plan = conditions<T>(traits_of<typename BoundPlan::Plan, T>());
            constexpr bool tile = Schedule::pixels == DefaultHalo<T>::pixels;
            static_assert(plan.factors, "Halo: x and weights must both be half, bfloat16, int8, e4m3 or e5m2");
            static_assert(plan.prologue, "Halo: no operator before the Conv: use MatrixGemm");
            static_assert(
                plan.pool,
                "Halo: a Pool, not of MaxWithTaps, follows 16-bit products and operators that depend on the channel "
                "alone: use WarpSpecialized or MatrixGemm");
            static_assert(plan.totals, "Halo of 8 bits: no ChannelStatistics in the plan: use NativeGemm");
            static_assert(tile, "Halo: Pixels must be 232, or 240 for 8 bits");
            return plan.met() && tile;
        }
    };

    /// Returns the first condition on the plan, with elements T and results U, that is not met. Precondition:
    /// conditions() has no false member. Extents are not checked.
    template <class Plan, class T, class U>
    FUSEKIT_H static consteval Unmet unmet_by_plan() {
        if (Unmet const unmet = WarpSpecializedEntry::unmet_by_plan<Plan, T, U>()) return unmet;
        if (count_phases<Plan>() > 1)
            return detail::holds(false, "a TransposedConv with a stride has phases", "use WarpSpecialized");
        return detail::unmet_by_taps<Plan>(may_have_groups<Plan, T, U> ? detail::unmet_by_steps
                                                                       : detail::unmet_by_unit_steps);
    }
    /// True if a plan's convolution may have several groups of channels, which Halo computes for 16-bit elements.
    template <class Plan, class T, class U>
    static constexpr bool may_have_groups =
        Plan::Head::may_be_grouped && sizeof(T) == 2 && sizeof(U) == 2 && !Plan::totals_tiles && !Plan::pools;

private:
    // Templates that cost() calls precede it: clang would not have instantiated them when it evaluates cost() in a
    // constant expression (dispatch/known.hpp).
    template <class Schedule, class T, class U>
    FUSEKIT_H static constexpr detail::HaloShapeOf<Schedule, T, U> shape_of(ConvCase const& of) {
        auto const height = static_cast<int>(of.y[2]), width = static_cast<int>(of.y[3]);
        if (of.product.groups > 1) return {height, width, of.filter};  // groups are computed in whole rows
        if (of.pools)
            return detail::HaloShapeOf<Schedule, T, U>::fewest_tiles(height, width, of.filter, Schedule::halo_bytes,
                                                                     true);
        return detail::HaloShapeOf<Schedule, T, U>::of(height, width, of.filter, Schedule::halo_bytes, keeps_rows(of));
    }
    template <class T>
    FUSEKIT_H static constexpr bool splits_rows(ConvCase const& of) {
        return shape_of<DefaultHalo<T>, T, T>(of).splits_rows;
    }
    /// True for the convolutions whose time in TiledHaloGemm is unknown.
    FUSEKIT_H static constexpr bool keeps_rows(ConvCase const& of) {
        return size_of(of.type) == 1 || of.totals || of.maxima || of.reads_image;
    }

    template <class Schedule>
    FUSEKIT_H static constexpr Unmet unmet_by_channels(ConvCase const& of) {
        bool const promotes = of.type == DataType::float8_e4m3 || of.type == DataType::float8_e5m2;
        char const* const fix = "use WarpSpecialized";
        return detail::first_unmet(
            detail::at_most("C", of.x[1], promotes ? Schedule::channels : Schedule::max_channels, fix),
            detail::at_most("K", of.y[1], of.totals ? Schedule::channels : Schedule::max_filters, fix));
    }
    template <class Schedule, class T, class U>
    FUSEKIT_H static constexpr Unmet unmet_by_groups(ConvCase const& of) {
        std::int64_t const groups = of.product.groups, c = of.x[1] / groups, k = of.y[1] / groups;
        char const* const fix = "use Grouped or NativeGemm";
        return detail::first_unmet(
            detail::holds(sizeof(T) == 2 && sizeof(U) == 2 && !of.totals && !of.pools,
                          "groups of 8-bit elements, with statistics or a Pool", fix),
            detail::at_least("C / groups", c, 4, fix), detail::at_least("K / groups", k, 4, fix),
            detail::at_most("channels of x from a multiple of 8 to a group's last", span_of(c), Schedule::channels,
                            fix),
            detail::at_most("channels of y from a multiple of 8 to a group's last", span_of(k), Schedule::channels,
                            fix),
            detail::holds(!of.maxima || k % 8 == 0, "an Amax of groups of channels that are no multiple of 8", fix));
    }
    /// Most channels from the multiple of 8 before a group's first channel to its last one.
    FUSEKIT_H static constexpr std::int64_t span_of(std::int64_t channels) {
        std::int64_t const step = channels & -channels;
        return channels + (step < 8 ? 8 - step : 0);
    }

public:
    template <class Schedule, class T, class U>
    FUSEKIT_H static constexpr Unmet can_implement(ConvCase const& of) {
        Filter<2> const& filter = of.filter;
        bool const grouped = of.product.groups > 1;
        if (Unmet const unmet = detail::unmet_by_channel_strides(of)) return unmet;
        if (Unmet const unmet = detail::unmet_by_steps(filter)) return unmet;
        Unmet const unmet = detail::first_unmet(
            grouped ? unmet_by_groups<Schedule, T, U>(of) : unmet_by_channels<Schedule>(of),
            detail::at_most("R * S", std::int64_t{filter.size[0]} * filter.size[1], Schedule::max_taps,
                            "use WarpSpecialized"),
            detail::holds(!of.pools || filter.size[1] % 2 == 1, "S is even, before a Pool", "use WarpSpecialized"),
            detail::at_most("Q + S - 1", grouped ? of.y[3] + filter.size[1] - 1 : 1, Schedule::pixels,
                            "use WarpSpecialized"));
        if (unmet) return unmet;
        auto const shape = shape_of<Schedule, T, U>(of);
        return detail::first_unmet(
            detail::at_most("bytes of a stage", shape.stage_bytes(), Schedule::halo_bytes / 2, "use WarpSpecialized"),
            detail::multiple_of("bytes of a tile's row of y", shape.box_step(), 128, "use WarpSpecialized"));
    }

private:
    /// Number of tiles of y, of one group; 0 if the schedule cannot compute the convolution, or if it has one group and
    /// a filter of one tap, so that a tile has no halo.
    template <class T>
    FUSEKIT_H static constexpr std::int64_t count_tiles(ConvCase const& of) {
        if ((of.taps == 1 && of.product.groups == 1) || can_implement<DefaultHalo<T>, T, T>(of)) return 0;
        return of.y[0] *
               shape_of<DefaultHalo<T>, T, T>(of).tiles_of_image(static_cast<int>(of.y[2]), static_cast<int>(of.y[3]));
    }

public:
    template <class Schedule>
    static constexpr ScheduleFacts facts{.m = Schedule::pixels, .n = Schedule::channels};
    FUSEKIT_H static Text written(ScheduleFacts const& of) { return "Halo<" + detail::list_of(of.m) + ">"; }

    FUSEKIT_H static constexpr Estimate cost(ScheduleFacts const& schedule, ConvCase const& of, CostTable const& table,
                                             GpuRates const& rates) {
        auto const bytes = static_cast<int>(size_of(of.type));
        std::int64_t const tiles = bytes == 1 ? count_tiles<int8>(of) : count_tiles<half>(of);
        if (tiles == 0) return {};
        if (of.product.groups > 1) return of.tma_rows ? cost_of_groups(schedule, of, tiles, table, rates) : Estimate{};
        if (!of.aligned_pixels || of.copied_bytes > 0 || !of.stores_by_tma) return {};
        std::int64_t const pixels = of.y[0] * of.y[2] * of.y[3], channel_tiles = detail::divide_up(of.y[1], schedule.n),
                           blocks = detail::divide_up(of.x[1], schedule.n);
        bool const tiled = is_tiled(of);
        if (tiled && keeps_rows(of)) return {};
        if (of.totals && tiles * channel_tiles > 1 && pixels < least_pixels_of_totals) return {};
        Costs costs = bytes == 1   ? table.halo_bytes
                      : blocks > 1 ? table.streamed_halo
                      : tiled      ? table.tiled_halo
                                   : table.halo;
        if (of.maxima) costs.launch += table.maxima.launch, costs.round += table.maxima.round;
        Workload workload =
            halo_workload(schedule, tiles, channel_tiles, blocks, of.taps, of.x[1] * bytes, rates.processors);
        if (bytes == 2) add_narrow_rows(workload, costs, of, blocks, table.tma);
        return estimate(workload, costs, of.product.bytes, table, rates);
    }

    /// True if the kernel is TiledHaloGemm: one group whose images or channels have several tiles.
    FUSEKIT_H static constexpr bool is_tiled(ConvCase const& of) {
        if (of.product.groups > 1) return false;
        return of.x[1] > Halo<>::channels || of.y[1] > Halo<>::channels ||
               (size_of(of.type) == 1 ? splits_rows<int8>(of) : splits_rows<half>(of));
    }

private:
    /// Adds the cycles of TMA loads of pixels and filters whose last channels do not fill a row of 64: before the first
    /// step those of the first tile of x, and of all filters if they stay in SMEM.
    FUSEKIT_H static constexpr void add_narrow_rows(Workload& workload, Costs& costs, ConvCase const& of,
                                                    std::int64_t blocks, TmaCosts const& tma) {
        auto const row = [&](std::int64_t channels) {
            return channels % 64 == 0 ? 0 : channels / 8 % 2 != 0 ? tma.odd_row / 2 : tma.narrow_row;
        };
        auto const shape = shape_of<DefaultHalo<half>, half, half>(of);
        std::int64_t const of_box = of.y[1] < 64 && of.x[1] <= 64 && !of.transposed ? of.y[1] : 64;
        double const pixels = row(of.x[1]) * shape.rows_of_x() * shape.pitch,
                     filters = row(of.transposed ? of.y[1] : of.x[1]) * static_cast<double>(of.taps * of_box);
        costs.launch += blocks > 1 ? pixels : pixels + filters;
        workload.copies = (blocks > 1 ? pixels + filters : pixels) / workload.steps;
    }
    /// Estimated time of several groups of 16-bit elements, each with `tiles` tiles and an equal share of the CTAs.
    FUSEKIT_H static constexpr Estimate cost_of_groups(ScheduleFacts const& schedule, ConvCase const& of,
                                                       std::int64_t tiles, CostTable const& table,
                                                       GpuRates const& rates) {
        std::int64_t const groups = of.product.groups,
                           of_group = rates.processors > groups ? rates.processors / groups : 1,
                           ctas = groups * (of_group < tiles ? of_group : tiles);
        Costs costs = of.y[1] / groups % 8 == 0 ? table.halo_groups : table.halo_stored_groups;
        if (of.maxima) costs.launch += table.maxima.launch, costs.round += table.maxima.round;
        Workload workload =
            halo_workload(schedule, tiles, 1, 1, of.taps, span_of(of.x[1] / groups) * 2, static_cast<int>(of_group));
        workload.rounds *= static_cast<double>(detail::divide_up(ctas, rates.processors));
        return estimate(workload, costs, of.product.bytes, table, rates);
    }
};

}  // namespace fusekit::hip
