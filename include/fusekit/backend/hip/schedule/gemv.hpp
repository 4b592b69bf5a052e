// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/gemv_tiles.hpp"
#include "fusekit/backend/hip/schedule/entry.hpp"

namespace fusekit::hip {

/// Schedule of a product with few rows: a Gemm of at most 32 rows, or a convolution of at most 32 pixels with a filter
/// of one tap. The weights are read once, by 16-byte loads to registers, and multiplied by mma.sync, with filters along
/// M, or by FMA instructions. Warps divide C; their sums are added in a fixed order. On sm_90a also of a TransposedConv
/// of 16-bit elements with a filter of one tap and stride 1.
///
/// Errors: a call with operands that do not meet a condition throws Error with the first such condition and its value.
template <int Blocks = 2>
struct Gemv {
    static constexpr int threads = 32 * GemvTiles::warps, blocks = Blocks, max_rows = GemvTiles::max_rows;
};

template <class Schedule>
concept GemvSchedule = HasBlocks<Schedule> && requires { Schedule::max_rows; };

using DefaultGemv = Gemv<>;

/// Entry of Gemv in the list of schedules (dispatch/list.hpp): its name, conditions and estimated time.
struct GemvEntry : ConvEntry {
    static constexpr char const* name = "Gemv";

    template <class Schedule>
    static constexpr bool describes = GemvSchedule<Schedule>;

    template <class T>
    FUSEKIT_H static constexpr PlanConditions conditions(PlanTraits const& plan) {
        return PlanConditions::of_epilogue(plan);
    }
    template <class Schedule>
    struct CanImplement {
        template <class X, class BoundPlan>
        FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
            using Plan = typename BoundPlan::Plan;
            using T = ElementOf<X>;
            constexpr PlanConditions plan = conditions<T>(traits_of<Plan, T>());
            constexpr bool single = has_single_tap<Plan> || transposes<Plan, T>,
                           warps = Schedule::threads == 32 * GemvTiles::warps;
            static_assert(single, "Gemv: the plan must have a Gemm, or a Conv of images whose filter may have one tap");
            static_assert(plan.prologue, "Gemv: no operator before the Conv or Gemm: use NativeGemm");
            static_assert(plan.pool, "Gemv: no Pool in the plan: use NativeGemm");
            static_assert(plan.totals, "Gemv: no ChannelStatistics in the plan: use NativeGemm");
            static_assert(warps, "Gemv: a block must have 256 threads");
            return plan.met() && single && warps;
        }
    };

    /// True if a plan's head is a Gemm, or a Conv of signals or images whose filter may have one tap and one group.
    template <class Plan>
    FUSEKIT_H static consteval bool may_have_single_tap() {
        if constexpr (!detail::has_head_of_images<Plan>()) return false;
        else if constexpr (has_transposed_conv<Plan>) return false;
        else {
            using Head = typename Plan::Head;
            constexpr bool is_single = Head::longest == 1 && !Head::may_be_grouped && !Head::may_be_padded,
                           is_dynamic = Head::longest > 1 && Head::may_be_single_pixels;
            return is_single || is_dynamic;
        }
    }
    template <class Plan>
    static constexpr bool has_single_tap = may_have_single_tap<Plan>();
    /// True if a plan has a TransposedConv that sm_90a's GPUs compute as a product with transposed weights.
    template <class Plan, class T>
    FUSEKIT_H static consteval bool transposes_weights() {
        if constexpr (detail::transposes_single_tap<Plan>()) return has_matrix_units<Plan, T>;
        else return false;
    }
    template <class Plan, class T>
    static constexpr bool transposes = transposes_weights<Plan, T>();
    template <class Plan, class T>
    FUSEKIT_H static consteval bool meets_conditions() {
        if constexpr (has_single_tap<Plan> || transposes<Plan, T>) return conditions<T>(traits_of<Plan, T>()).met();
        else return false;
    }
    template <class Plan, class T, class U>
    static constexpr bool has_kernel = Element<U> && meets_conditions<Plan, T>();

    template <class Schedule, class T, class U>
    FUSEKIT_H static constexpr Unmet can_implement(ConvCase const& of) {
        return detail::first_unmet(
            detail::at_most("rows of x", of.product.m, GemvTiles::max_rows, "use NativeGemm"),
            detail::equal("groups", of.product.groups, 1, "use NativeGemm"),
            detail::equal("R * S", of.taps, 1, "use NativeGemm"),
            detail::holds(of.filter.pad(0) == of.filter, "the filter has padding", "use NativeGemm"),
            detail::equal("x's channel stride", of.x[1] > 1 ? of.x_channel_stride : 1, 1, "use NativeGemm"),
            detail::holds(!of.transposed || of.on_matrix_units, "a TransposedConv on a GPU other than sm_90a",
                          "use NativeGemm"),
            detail::holds(of.x[1] == 1 || of.transposed || !of.contiguous_taps,
                          "the channels of a filter are not contiguous", "use NativeGemm"));
    }
    FUSEKIT_H static Text written(ScheduleFacts const& of) { return "Gemv<" + detail::list_of(of.blocks) + ">"; }

    /// True if the GPU's kernels use mma.sync for elements of `bytes` bytes.
    FUSEKIT_H static constexpr bool is_by_mma(int bytes, GpuRates const& rates) {
        return bytes <= 2 && rates.architecture.maker() == Architecture::Maker::nvidia;
    }
    FUSEKIT_H static constexpr GemvCut cut(GemvProduct const& of, CostTable const& table, GpuRates const& rates) {
        return GemvCut::best(of, DefaultGemv::blocks, rates.processors, rates.cache_bytes, table.gemv.min_step);
    }
    FUSEKIT_H static constexpr Estimate cost(ScheduleFacts const& schedule, ConvCase const& of, CostTable const& table,
                                             GpuRates const& rates) {
        if (can_implement<DefaultGemv, float, float>(of) || of.product.gemm_k == 0) return {};
        int const bytes = size_of(of.type);
        bool const by_mma = is_by_mma(bytes, rates);
        GemvCut const cut = GemvEntry::cut(
            {of.product.m, of.product.n, of.product.gemm_k * bytes, by_mma, of.transposed}, table, rates);
        // mma.sync has half of the rate of sm_90a's wgmma.
        double const products = !by_mma      ? rates.products
                                : bytes == 1 ? rates.int8_products / 2
                                             : rates.half_products / 2;
        std::int64_t const filters = by_mma ? detail::divide_up(cut.tiles.filters(), 16) * 16 : cut.tiles.filters(),
                           rows = !by_mma && of.product.m == 1 ? 1 : cut.tiles.rows,
                           resident = cut.processor_ctas < schedule.blocks ? cut.processor_ctas : schedule.blocks;
        double const at_once = static_cast<double>(resident) / static_cast<double>(cut.steps);
        return estimate(
            Workload{.rounds = static_cast<double>(detail::divide_up(cut.processor_ctas, resident)),
                     .steps = static_cast<double>(cut.steps),
                     .arithmetic = at_once * static_cast<double>(filters * rows * of.product.gemm_k) / products,
                     .cache_bytes = at_once * static_cast<double>(cut.cta_bytes),
                     .outputs = static_cast<double>(of.product.m * of.product.n) / rates.processors},
            of.transposed ? table.transposed_gemv : table.gemv, of.product.bytes, table, rates);
    }
};

}  // namespace fusekit::hip
