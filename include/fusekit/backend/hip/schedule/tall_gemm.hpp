// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/schedule/gemv.hpp"
#include "fusekit/backend/hip/schedule/tma_operands.hpp"
#include "fusekit/backend/hip/tall_tiles.hpp"

namespace fusekit::hip {

/// Schedule of a product of many rows with few channels and few filters: a 1x1 Conv or a Gemm that memory limits, of
/// 16-bit elements on sm_90a. Tiles are whole rows of x and y, contiguous in memory, which one bulk copy each loads and
/// stores, whatever the number of channels. SMEM holds all filters; mma.sync multiplies. The CTAs are persistent. Or
/// the same product of a TransposedConv with stride 1, with any strides of the weights.
///
/// Errors: a call with operands that do not meet a condition throws Error with the first such condition and its value.
template <int Blocks = 2>
struct TallGemm {
    static constexpr int threads = 32 * TallTiles::warps, blocks = Blocks, max_filter_bytes = TallTiles::filter_bytes;
};

template <class Schedule>
concept TallGemmSchedule = HasBlocks<Schedule> && requires { Schedule::max_filter_bytes; };

using DefaultTallGemm = TallGemm<>;

/// Entry of TallGemm in the list of schedules (dispatch/list.hpp): its name, conditions and estimated time.
struct TallGemmEntry : TmaEntry<TallGemmEntry> {
    static constexpr char const* name = "TallGemm";

    template <class Schedule>
    static constexpr bool describes = TallGemmSchedule<Schedule>;

    template <class Schedule>
    struct CanImplement {
        template <class X, class BoundPlan>
        FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
            using Plan = typename BoundPlan::Plan;
            using T = ElementOf<X>;
            constexpr PlanConditions plan = conditions<T>(traits_of<Plan, T>());
            constexpr bool warps = Schedule::threads == 32 * TallTiles::warps;
            static_assert(plan.factors, "TallGemm: x and weights must both be half or bfloat16");
            static_assert(plan.prologue, "TallGemm: no operator before the Conv or Gemm: use MatrixGemm");
            static_assert(plan.pool, "TallGemm: no Pool in the plan: use MatrixGemm");
            static_assert(plan.totals, "TallGemm: no ChannelStatistics in the plan: use WarpSpecialized");
            static_assert(warps, "TallGemm: a block must have 256 threads");
            return plan.met() && warps;
        }
    };

    /// Returns the first condition on the plan, with elements T and results U, that is not met. Precondition:
    /// conditions() has no false member.
    template <class Plan, class T, class U>
    FUSEKIT_H static consteval Unmet unmet_by_plan() {
        return detail::first_unmet(
            detail::holds(has_matrix_units<Plan, T>, "the program has no code for sm_90a", "use NativeGemm"),
            detail::holds(GemvEntry::has_single_tap<Plan> || detail::transposes_single_tap<Plan>(),
                          "the filter has several taps, groups or padding", "use WarpSpecialized"),
            detail::unmet_by_element<U>());
    }

    template <class Schedule, class T, class U>
    FUSEKIT_H static constexpr Unmet can_implement(ConvCase const& of) {
        return detail::first_unmet(
            detail::equal("groups", of.product.groups, 1, "use WarpSpecialized"),
            detail::equal("R * S", of.taps, 1, "use WarpSpecialized"),
            detail::holds(of.filter.pad(0) == of.filter && of.filter.stride(1) == of.filter,
                          "the filter has padding or strides", "use WarpSpecialized"),
            detail::holds(of.dense_pixels, "x or y is not dense, with channels last, at a multiple of 16 bytes",
                          "use WarpSpecialized"),
            detail::multiple_of("C", of.x[1], of.transposed ? 1 : 2, "use MatrixGemm"),
            detail::at_most("C", of.x[1], TallTiles::max_channels, "use WarpSpecialized"),
            detail::at_most("K", of.product.n, TallTiles::max_channels, "use WarpSpecialized"),
            detail::at_most("bytes of the filters", 2 * of.x[1] * of.product.n, TallTiles::filter_bytes,
                            "use WarpSpecialized"),
            detail::holds(of.product.m > 0 && of.x[1] > 0, "x or y has no elements", "use Direct"));
    }
    FUSEKIT_H static Text written(ScheduleFacts const& of) { return "TallGemm<" + detail::list_of(of.blocks) + ">"; }

    FUSEKIT_H static constexpr Estimate cost(ScheduleFacts const& schedule, ConvCase const& of, CostTable const& table,
                                             GpuRates const& rates) {
        if (can_implement<DefaultTallGemm, half, half>(of)) return {};
        TallTiles const tiles = TallTiles::of(of.product.m, of.x[1], of.product.n, 2, of.transposed);
        std::int64_t const k = of.product.n, last = (k - 1) % TallTiles::warp_filters + 1,
                           last_column = last <= 8    ? 8
                                         : last <= 16 ? 16
                                                      : TallTiles::warp_filters,
                           column = TallTiles::blocks(k) == 1 ? last_column : TallTiles::warp_filters,
                           blocks = tiles.rows / TallTiles::warp_rows * TallTiles::blocks(k),
                           of_warp = detail::divide_up(blocks, std::int64_t{TallTiles::warps}),
                           resident = tiles.tiles > static_cast<std::uint32_t>(rates.processors) ? schedule.blocks : 1,
                           // rows whose first words are in the same bank of SMEM
            conflicts = of.x[1] % 64 == 0   ? 4
                        : of.x[1] % 32 == 0 ? 2
                                            : 1;
        // mma.sync has half of the rate of sm_90a's wgmma.
        // Transposed filters, two thirds of the loads, have no conflicts.
        double const loads = of.transposed ? static_cast<double>(conflicts + 2) / 3 : static_cast<double>(conflicts),
                     products = static_cast<double>(tiles.steps(of.x[1], k)) * loads * TallTiles::warp_rows *
                                TallTiles::warp_filters * TallTiles::step / (rates.half_products / 2);
        Costs costs = of.transposed ? table.transposed_tall_gemm : table.tall_gemm;
        // mean share of a block of 32 filters that is stored
        double const whole = static_cast<double>(TallTiles::blocks(k) * TallTiles::warp_filters),
                     stored = !of.transposed || TallTiles::blocks(k) == 1
                                  ? 1
                                  : (whole - static_cast<double>(TallTiles::warp_filters - last_column)) / whole;
        if (of.transposed) costs.launch += table.transposed_filter * static_cast<double>(of.x[1] * k);
        return estimate(Workload{.rounds = static_cast<double>(detail::divide_up(
                                     std::int64_t{tiles.tiles}, std::int64_t{schedule.blocks} * rates.processors)),
                                 .steps = 1,
                                 .arithmetic = products * static_cast<double>(resident),
                                 .outputs = stored * static_cast<double>(resident * of_warp * TallTiles::warps *
                                                                         TallTiles::warp_rows * column)},
                        costs, of.product.bytes, table, rates);
    }
};

}  // namespace fusekit::hip
