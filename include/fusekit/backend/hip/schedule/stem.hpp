// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/schedule/warp_specialized.hpp"
#include "fusekit/backend/hip/stem_shape.hpp"

namespace fusekit::hip {

/// Schedule of a Conv of few channels of x, as in a network's first layer: channels-last, dense, 16 bits, on sm_90a's
/// tensor cores. Each of the CTA's consumer warpgroups, at most 4, computes tiles of 64 pixels x 64 channels of y, one
/// after another. SMEM holds all filters, in at most max_panels panels (64 filters x the GemmK indices of two rows of a
/// window), and two to four stages of x per warpgroup, which TMA loads at once or, if rows of x are misaligned for it,
/// row by row.
///
/// Errors: a call with operands that do not meet a condition throws Error with the first such condition and its value.
template <int Warpgroups = 4>
struct Stem {
    static constexpr int pixels = 64, channels = 64, max_panels = StemShape::max_panels, consumers = Warpgroups;
    static constexpr int stage_bytes = 96 * 1024 / (2 * Warpgroups) / 128 * 128, window_bytes = 2 * stage_bytes;
    static constexpr int threads = (consumers + 1) * 128, blocks = 1;
};

template <class Schedule>
concept StemSchedule = HasBlocks<Schedule> && requires {
    Schedule::pixels, Schedule::channels, Schedule::max_panels, Schedule::stage_bytes, Schedule::consumers;
};

using DefaultStem = Stem<4>;

/// Work of `tiles` tiles of 64 pixels x 64 channels, for the cost model, computed by the warpgroups of an SM
/// concurrently. A step is a chunk of two rows of a window, 16 indices of GemmK, whose operands are read from SMEM.
/// `boxes`: TMA loads of a tile, if each row of x has its own; else 0.
FUSEKIT_H constexpr Workload stem_workload(std::int64_t tiles, int panels, int chunks, int processors,
                                           StemCosts const& reads, int boxes = 0) {
    double const steps = panels * chunks, copies = reads.box * boxes / steps;
    return {.rounds = static_cast<double>(detail::divide_up(tiles, processors)),
            .steps = steps,
            .arithmetic = reads.filters + reads.words + copies,
            .outputs = 64 * 64};
}

/// Entry of Stem in the list of schedules (dispatch/list.hpp): its name, conditions and estimated time.
struct StemEntry : TmaEntry<StemEntry> {
    static constexpr char const* name = "Stem";

    template <class Schedule>
    static constexpr bool describes = StemSchedule<Schedule>;

    template <class T>
    FUSEKIT_H static constexpr PlanConditions conditions(PlanTraits const& plan) {
        PlanConditions result = WarpSpecializedEntry::conditions<T>(plan);
        result.factors = result.factors && sizeof(T) == 2;
        result.totals = !plan.totals, result.pool = !plan.pools;
        return result;
    }
    template <class Schedule>
    struct CanImplement {
        template <class X, class BoundPlan>
        FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
            using T = ElementOf<X>;
            constexpr PlanConditions plan = conditions<T>(traits_of<typename BoundPlan::Plan, T>());
            constexpr bool tile = Schedule::pixels == 64, warpgroups = Schedule::consumers <= 4;
            static_assert(plan.factors, "Stem: x and weights must both be half or bfloat16");
            static_assert(plan.prologue, "Stem: no operator before the Conv: use MatrixGemm");
            static_assert(plan.pool, "Stem: no Pool in the plan: use MatrixGemm");
            static_assert(plan.totals, "Stem: no ChannelStatistics in the plan: use WarpSpecialized");
            static_assert(tile, "Stem: a tile must have 64 pixels");
            static_assert(warpgroups, "Stem: Warpgroups must be 4 or fewer");
            return plan.met() && tile && warpgroups;
        }
    };

    /// Returns the first condition on the plan, with elements T and results U, that is not met. Precondition:
    /// conditions() has no false member. Per-pixel parameters are unsupported because they exceed the threads'
    /// registers. Extents are not checked.
    template <class Plan, class T, class U>
    FUSEKIT_H static consteval Unmet unmet_by_plan() {
        if (Unmet const unmet = WarpSpecializedEntry::unmet_by_plan<Plan, T, U>()) return unmet;
        if (Unmet const unmet = detail::first_unmet(
                detail::holds(!Plan::Epilogue::per_pixel, "an operator has parameters per pixel",
                              "use WarpSpecialized"),
                detail::holds(!has_transposed_conv<Plan>, "a TransposedConv", "use WarpSpecialized"),
                detail::holds(Plan::Epilogue::maxima == 0, "an Amax, which has words for 512 threads",
                              "use WarpSpecialized")))
            return unmet;
        return detail::unmet_by_taps<Plan>(unmet_by_filter);
    }

    template <class Schedule, class T, class U>
    FUSEKIT_H static constexpr Unmet can_implement(ConvCase const& of) {
        Unmet const unmet =
            detail::first_unmet(detail::holds(of.rows_of_pixels, "x's pixels are not contiguous in rows and channels",
                                              "pass x channels-last and dense"),
                                detail::holds(of.channels_last, "y is not channels-last", "pass y channels-last"),
                                unmet_by_window(of.filter));
        if (unmet) return unmet;
        return shape<Schedule>(of.y, of.x[1], of.filter, of.aligned_rows, of.x[1] * of.x[3]).panels > 0
                   ? Unmet{}
                   : unmet_by_shape<Schedule>(of.x[1], of.filter);
    }
    /// StemShape (tiling) of a convolution; its `panels` is 0 if the filter or the stage of every tile shape is too
    /// large.
    template <class Schedule>
    FUSEKIT_H static constexpr StemShape shape(Index<4> const& y, std::int64_t channels, Filter<2> const& filter,
                                               bool aligned_rows, std::int64_t row_step) {
        if (unmet_by_window(filter)) return {};
        StemShape const shape = StemShape::of(y, channels, filter, Schedule::stage_bytes, aligned_rows, row_step);
        return shape.panels <= Schedule::max_panels ? shape : StemShape();
    }

    template <class Schedule>
    static constexpr ScheduleFacts facts{.m = Schedule::consumers, .n = Schedule::channels};
    FUSEKIT_H static Text written(ScheduleFacts const& of) { return "Stem<" + detail::list_of(of.m) + ">"; }

    FUSEKIT_H static constexpr Estimate cost(ScheduleFacts const&, ConvCase const& of, CostTable const& table,
                                             GpuRates const& rates) {
        if (!of.rows_of_pixels || !of.channels_last) return {};
        StemShape const tile = shape<DefaultStem>(of.y, of.x[1], of.filter, of.aligned_rows, of.x[1] * of.x[3]);
        if (tile.panels == 0) return {};
        return estimate(
            stem_workload(tile.tiles(of.y) * detail::divide_up(of.y[1], DefaultStem::channels), tile.panels,
                          tile.chunks, rates.processors, table.stem_reads, tile.by_rows ? tile.rows_of_x : 0),
            table.stem, of.product.bytes, table, rates);
    }

private:
    /// Returns the first unmet condition on a filter, which is either in a plan's type or an argument of a call.
    FUSEKIT_H static constexpr Unmet unmet_by_filter(Filter<2> const& filter) {
        return detail::first_unmet(detail::equal("groups", filter.group_count, 1, "use MatrixGemm"),
                                   detail::equal("dilation_w", filter.dilations[1], 1, "use WarpSpecialized"));
    }
    FUSEKIT_H static constexpr Unmet unmet_by_window(Filter<2> const& filter) {
        return detail::first_unmet(
            detail::equal("groups", filter.group_count, 1, "use MatrixGemm"),
            detail::equal("dilation_w", filter.size[1] == 1 ? 1 : filter.dilations[1], 1, "use WarpSpecialized"));
    }
    /// Returns the condition that makes every tile shape exceed SMEM, with the value that exceeds its limit.
    template <class Schedule>
    FUSEKIT_H static constexpr Unmet unmet_by_shape(std::int64_t channels, Filter<2> const& filter) {
        std::int64_t const lead = filter.strides[1] * channels % 2 == 0 ? filter.pad_before[1] * channels % 2 : 0;
        return detail::first_unmet(
            detail::at_most("S * C", filter.size[1] * channels, StemShape::max_chunks * StemShape::chunk - lead,
                            "use WarpSpecialized"),
            detail::at_most("R", filter.size[0], 2 * Schedule::max_panels, "use WarpSpecialized"),
            detail::holds(false, "the rows of x that a tile of 64 pixels reads exceed a stage", "use WarpSpecialized"));
    }
};

}  // namespace fusekit::hip
