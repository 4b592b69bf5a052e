// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/schedule/warp_specialized.hpp"
#include "fusekit/backend/hip/strip_halo_tiles.hpp"
#include "fusekit/plan/packed_state.hpp"

namespace fusekit::hip {

/// Schedule of a convolution of many channels on sm_90a's tensor cores: channels-last tensors of 16 bits, stride and
/// dilation 1, one group, at least 2 taps, no Amax and no parameters per pixel. With a prologue or ChannelStatistics
/// the epilogue may read a tensor of y's shape; producer warps apply the prologue to each tile of x in SMEM, once for
/// all taps, and merge the statistics. With a prologue x has at most 512 channels, a multiple of 8; with statistics y
/// is one image. A tile has Rows rows of y, 32, and 8 columns and 128 channels, or 16 columns and 64 channels. For each
/// 64 channels of x TMA loads its pixels of x once for all taps, halo included, and the filters tap by tap. Errors: the
/// first failed condition with its value, "StripHalo: stages of filters = 3 is below 4".
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
        bool const before_pool = !plan.by_pixel && !plan.prologue && !plan.totals;
        return {.factors = detail::is_16_bits<T> && plan.same_weights, .pool = !plan.pools || before_pool};
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
            static_assert(
                plan.pool,
                "StripHalo: a Pool follows operators that depend on the channel alone, without a prologue and "
                "ChannelStatistics: use MatrixGemm");
            static_assert(channelwise,
                          "StripHalo: no Amax and no parameters per pixel, and without a prologue and statistics no "
                          "operator that reads a tensor: use WarpSpecialized");
            static_assert(rows, "StripHalo: Rows must be 32");
            return plan.met() && rows && channelwise;
        }
    };

    /// True for a plan with a prologue or statistics, for which SMEM has parameters and totals.
    template <class Plan>
    static constexpr bool shares_memory = Plan::has_prologue || Plan::totals_tiles;
    static constexpr int max_prologue_channels = 512, max_prologue_floats = 3;  ///< limits of the prologue's SMEM table

    /// True if the epilogue depends on channels alone or, with a prologue or statistics, on a tensor that TMA loads.
    template <class Plan>
    static constexpr bool is_channelwise =
        Plan::Epilogue::maxima == 0 && !Plan::Epilogue::per_pixel &&
        (Plan::Epilogue::reads_named ? shares_memory<Plan> : !Plan::Epilogue::reads_image);
    /// True for a TransposedConv of 4x4 taps, stride 2 and padding 1 with statistics: each phase is a convolution of
    /// 2x2 taps.
    template <class Plan>
    FUSEKIT_H static consteval bool is_doubling_plan() {
        if constexpr (!detail::has_head_of_images<Plan>() || !Plan::totals_tiles) return false;
        else if constexpr (!detail::spreads<problem::GeometryOf<typename Plan::Head>>) return false;
        else return HaloStripShape::is_doubling(Plan::Head::filter) && !Plan::Epilogue::reads_named;
    }
    template <class Plan>
    static constexpr bool doubles = is_doubling_plan<Plan>();

    /// True if the prologue's parameters of all channels fit SMEM.
    template <class Plan>
    static constexpr bool fits_table = detail::PackedState<typename Plan::Prologue>::size <= max_prologue_floats;

    /// Returns the first unmet condition of a plan of elements T and results U that meets conditions(); extents are not
    /// checked.
    template <class Plan, class T, class U>
    FUSEKIT_H static consteval Unmet unmet_by_plan() {
        if (!fits_table<Plan>)
            return detail::holds(false, "the prologue has more than 3 parameters per channel", "use MatrixGemm");
        if (doubles<Plan>)
            return detail::first_unmet(
                detail::unmet_by_target(), detail::holds(std::is_same_v<T, U>, "y's type is not x's", "use MatrixGemm"),
                detail::holds(is_channelwise<Plan>, "an operator depends on the pixel", "use MatrixGemm"));
        if (Unmet const unmet = WarpSpecializedEntry::unmet_by_plan<Plan, T, U>()) return unmet;
        if (count_phases<Plan>() > 1)
            return detail::holds(false, "a TransposedConv with a stride has phases", "use WarpSpecialized");
        if (!is_channelwise<Plan>)
            return detail::holds(false, "an operator depends on the pixel", "use WarpSpecialized");
        return detail::unmet_by_taps<Plan>(detail::unmet_by_unit_steps);
    }

    /// Shape of a convolution's tiles.
    FUSEKIT_H static constexpr HaloStripShape shape_of(ConvCase const& of) {
        return HaloStripShape::of(of.filter, of.y[1], of.prologue || of.totals, HaloStripShape::is_doubling(of.spread));
    }
    /// Pixels of y that statistics need: scratch has one total per 64 pixels, and each warpgroup writes one.
    static constexpr int least_pixels_of_totals = 65;

    template <class Schedule, class T, class U>
    FUSEKIT_H static constexpr Unmet can_implement(ConvCase const& of) {
        char const* const fix = of.prologue ? "use MatrixGemm" : "use WarpSpecialized";
        HaloStripShape const shape = shape_of(of);
        return detail::first_unmet(
            detail::unmet_by_channel_strides(of), detail::equal("groups", of.product.groups, 1, fix),
            shape.phases > 1 ? detail::first_unmet(
                                   detail::equal("rows of y", of.y[2], 2 * of.x[2], "pass a y of twice x's rows"),
                                   detail::equal("columns of y", of.y[3], 2 * of.x[3], "pass a y of twice x's columns"))
                             : detail::unmet_by_steps(of.filter),
            // limits the pixels of a tile of x before their bytes are computed
            detail::at_most("R", of.filter.size[0], 64, fix), detail::at_most("S", of.filter.size[1], 64, fix),
            detail::at_least("R * S", shape.taps() * shape.phases, 3, fix),
            // the rows of all images are numbered with R - 1 between images, and windows begin with even numbers
            detail::holds(!of.pools || of.filter.size[0] % 2 == 1, "R is even, before a Pool", fix),
            detail::at_least("stages of filters", shape.stages(), 4, fix),
            detail::at_most("rows of y in all images, with R - 1 between them",
                            of.y[0] * (of.y[2] + of.filter.size[0] - 1), std::int64_t{1} << 30, fix),
            detail::at_most("tiles", shape.tiles(of.y), (std::int64_t{1} << 31) - 1, fix),
            detail::at_most("C", of.prologue ? of.x[1] : 1, max_prologue_channels, fix),
            // a thread applies the prologue to 8 channels at a time, and those past the last have no parameters
            detail::multiple_of("C", of.prologue ? of.x[1] : 8, 8, fix),
            detail::at_most("images of a plan with ChannelStatistics", of.totals ? of.y[0] : 1, 1, fix),
            detail::at_least("pixels of a plan with ChannelStatistics",
                             of.totals ? of.y[2] * of.y[3] : least_pixels_of_totals, least_pixels_of_totals, fix));
    }
    template <class Schedule>
    static constexpr ScheduleFacts facts{.m = Schedule::strip_rows};
    FUSEKIT_H static Text written(ScheduleFacts const& of) { return "StripHalo<" + detail::list_of(of.m) + ">"; }

    FUSEKIT_H static constexpr Estimate cost(ScheduleFacts const&, ConvCase const& of, CostTable const& table,
                                             GpuRates const& rates) {
        if (can_implement<DefaultStripHalo, half, half>(of) || size_of(of.type) != 2) return {};
        if (!of.aligned_pixels || of.copied_bytes > 0 || !of.stores_by_tma || of.maxima) return {};
        HaloStripShape const shape = shape_of(of);
        // WarpSpecialized takes less time; it has no statistics of a TransposedConv with a stride
        if ((of.reads_image || of.totals) && !of.prologue && shape.phases == 1) return {};
        std::int64_t const blocks = detail::divide_up(of.x[1], HaloStripShape::channels);
        Workload const workload{
            .rounds = static_cast<double>(detail::divide_up(shape.tiles(of.y), rates.processors)),
            .steps = static_cast<double>(shape.taps() * blocks),
            .arithmetic = 2 * wgmma_cycles(HaloStripShape::pixels) *
                          static_cast<double>(detail::divide_up(of.x[1], 16)) / static_cast<double>(blocks),
            .cache_bytes = shape.filter_bytes() + static_cast<double>(shape.bytes_of_x()) / shape.taps(),
            .outputs = 2 * 64 * HaloStripShape::pixels};
        return estimate(workload, of.prologue ? table.strip_halo_prologue : table.strip_halo, of.product.bytes, table,
                        rates);
    }
};

}  // namespace fusekit::hip
