// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/schedule/gemm.hpp"
#include "fusekit/backend/hip/schedule/tma_operands.hpp"

namespace fusekit::hip {

/// Schedule of an implicit GEMM on sm_90a's tensor cores, of half, bfloat16 and float: a warpgroup computes 64 pixels x
/// TileN channels; TileM is 64, 128 or 256, TileN 64 or 128. Threads load operands to registers and store them to SMEM,
/// so that every layout, padding and prologue is supported. Floats are split into sums of three bfloat16
/// (mma/bf16x6.hpp), with three times the SMEM of 16-bit elements, or, with Products<tf32>, rounded to TF32.
template <int TileM, int TileN, int Blocks = 2>
struct MatrixGemm {
    static constexpr int tile_m = TileM, tile_n = TileN, tile_k = 64, blocks = Blocks;
    static constexpr int threads = TileM / 64 * 128;
    static constexpr bool on_matrix_units = true;
};

/// Work of tensor cores with operands loaded through registers, for the cost model; `terms`: tensor-core products per
/// product of elements.
FUSEKIT_H constexpr Workload matrix_workload(ScheduleFacts const& schedule, Product const& of, int processors,
                                             double products_a_cycle, int terms) {
    std::int64_t const most = detail::divide_up(detail::count_tiles(schedule, of), processors),
                       at_once = most < schedule.blocks ? most : schedule.blocks,
                       outputs = at_once * schedule.m * schedule.n;
    return {.rounds = static_cast<double>(detail::divide_up(most, schedule.blocks)),
            .steps = static_cast<double>(detail::divide_up(of.gemm_k, schedule.k)),
            .arithmetic = static_cast<double>(outputs * schedule.k * terms) / products_a_cycle,
            .outputs = static_cast<double>(outputs)};
}

/// Entry of MatrixGemm in the list of schedules (dispatch/list.hpp): its name, conditions and estimated time.
struct MatrixGemmEntry : ConvEntry {
    static constexpr char const* name = "MatrixGemm";
    static constexpr bool on_matrix_units = true;

    template <class Schedule>
    static constexpr bool describes = MatrixSchedule<Schedule>;
    template <class Schedule, class T, PlanTraits plan>
    static constexpr bool splits = true;

    template <class T>
    FUSEKIT_H static constexpr PlanConditions conditions(PlanTraits const& plan) {
        constexpr bool floats = std::is_same_v<T, float>;
        return {.factors = (detail::is_16_bits<T> || floats) && plan.same_weights,
                .products = !floats || !plan.products_of_float};
    }
    template <class Plan, class T>
    static constexpr bool has_kernel = arch::is_targeted<arch::Sm90a> && conditions<T>(traits_of<Plan, T>()).met();

    template <class Schedule>
    struct CanImplement {
        template <class X, class BoundPlan>
        FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
            using T = ElementOf<X>;
            constexpr PlanConditions plan = conditions<T>(traits_of<typename BoundPlan::Plan, T>());
            constexpr int m = Schedule::tile_m, n = Schedule::tile_n;
            constexpr bool floats = std::is_same_v<T, float>, rows = m == 64 || m == 128 || m == 256,
                           columns = n == 64 || n == 128, fits = !floats || !rows || !columns || m + n <= 256;
            static_assert(plan.factors, "MatrixGemm: x and weights must both be half, bfloat16 or float");
            static_assert(plan.products, "MatrixGemm: Products<float> needs SIMT arithmetic: use Gemm");
            static_assert(rows, "MatrixGemm: TileM must be 64, 128 or 256");
            static_assert(columns, "MatrixGemm: TileN must be 64 or 128");
            static_assert(
                fits,
                "MatrixGemm of float: two stages of (TileM + TileN) 384 bytes must fit 192 KB: TileM + TileN is "
                "256 at most");
            return plan.met() && rows && columns && fits;
        }
    };
    template <class Schedule>
    static constexpr ScheduleFacts facts{.m = Schedule::tile_m, .n = Schedule::tile_n, .k = Schedule::tile_k};
    FUSEKIT_H static Text written(ScheduleFacts const& of) {
        return "MatrixGemm<" + detail::list_of(of.m, of.n, of.blocks) + ">";
    }
    FUSEKIT_H static constexpr Estimate cost(ScheduleFacts const& schedule, ConvCase const& of, CostTable const& table,
                                             GpuRates const& rates) {
        bool const is_float = of.type == DataType::float32;
        if (is_float && of.product.n < min_matrix_channels) return {};
        Costs const& costs = of.terms == 2      ? table.tf32_matrix
                             : is_float         ? of.channels_last ? table.float_matrix : table.gathering_float_matrix
                             : of.channels_last ? table.matrix
                                                : table.gathering_matrix;
        detail::PartTime const time{schedule,
                                    of,
                                    table,
                                    rates,
                                    costs,
                                    rates.half_products,
                                    [](detail::PartTime const& all, Product const& part) {
                                        return matrix_workload(all.schedule, part, all.rates.processors, all.products,
                                                               all.of.terms);
                                    }};
        return detail::register_estimate(time, schedule.m / 64 * 128, table.matrix_split);
    }
};

}  // namespace fusekit::hip
