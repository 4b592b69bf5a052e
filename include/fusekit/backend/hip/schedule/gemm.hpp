// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/atom/native.hpp"
#include "fusekit/backend/hip/atom/simt.hpp"
#include "fusekit/backend/hip/schedule/entry.hpp"

namespace fusekit::hip {

/// Schedule of an implicit GEMM in SIMT arithmetic, for every type and layout: a CTA computes a tile of TileM output
/// pixels by TileN channels in k-tiles of TileK; a thread computes 8 pixels x 8 channels. Blocks is the intended number
/// of CTAs per SM. Errors: a static_assert fails if the tile has no whole number of waves, or if two stages exceed 38
/// KB.
template <int TileM, int TileN, int TileK, int Blocks = 2>
struct Gemm {
    static constexpr int tile_m = TileM, tile_n = TileN, tile_k = TileK, blocks = Blocks;
    static constexpr int threads = SimtShape{TileM, TileN, TileK}.threads();
};

/// Schedule of an implicit GEMM on the fastest unit of the processor (atom/native.hpp): matrix or dot instructions for
/// 16 and 8 bits, if available, with their own k-tiles; else SIMT arithmetic with k-tiles of TileK. TileN is a multiple
/// of 64.
template <int TileM, int TileN, int Blocks = 2, int TileK = 8>
struct NativeGemm {
    static constexpr int tile_m = TileM, tile_n = TileN, tile_k = TileK, blocks = Blocks;
    static constexpr int threads = SimtShape{TileM, TileN, TileK}.threads();
    static constexpr bool is_native = true;
};

/// Schedules of which threads load operands to registers and store them to SMEM: Gemm, NativeGemm and MatrixGemm.
template <class Schedule>
concept GemmSchedule = HasBlocks<Schedule> && !requires { Schedule::stages; } &&
                       requires { Schedule::tile_m, Schedule::tile_n, Schedule::tile_k; };
template <class Schedule>
concept NativeSchedule = GemmSchedule<Schedule> && requires { requires Schedule::is_native; };
template <class Schedule>
concept MatrixSchedule = GemmSchedule<Schedule> && requires { requires Schedule::on_matrix_units; };

/// Work of a GEMM in SIMT arithmetic, for the cost model. All threads have equal work. The waves of an SM are
/// distributed over its warp schedulers; the one with the most waves ends last.
FUSEKIT_H constexpr Workload gemm_workload(ScheduleFacts const& schedule, Product const& of, int processors,
                                           double products_a_cycle, SimtCosts const& simt) {
    int const threads = schedule.m * schedule.n / 64;
    std::int64_t const most = detail::divide_up(detail::count_tiles(schedule, of), processors),
                       at_once = most < schedule.blocks ? most : schedule.blocks;
    auto const in_all = static_cast<double>(detail::divide_up(most * threads, simt.schedulers * 32)),
               waves = static_cast<double>(detail::divide_up(at_once * threads, simt.schedulers * 32));
    double const load_cost = 1 + simt.loads / schedule.m + simt.loads / schedule.n, of_wave = 64 * 32 * simt.schedulers;
    return {.rounds = 1,
            .steps = static_cast<double>(of.gemm_k),
            .arithmetic = in_all * load_cost * (waves + simt.waiting_waves) / waves * of_wave / products_a_cycle,
            .outputs = static_cast<double>(most * schedule.m * schedule.n)};
}

namespace detail {

/// Estimated time of a Gemm or NativeGemm schedule; `products` is the number of multiply-adds per SM and cycle.
FUSEKIT_H constexpr Estimate gemm_estimate(ScheduleFacts const& schedule, ConvCase const& of, CostTable const& table,
                                           GpuRates const& rates, Costs const& costs, double products) {
    if (of.wants_matrix_units && of.on_matrix_units && of.product.n >= min_matrix_channels) return {};
    PartTime const time{schedule, of, table, rates, costs, products, [](PartTime const& all, Product const& part) {
                            return gemm_workload(all.schedule, part, all.rates.processors, all.products,
                                                 all.table.simt);
                        }};
    return register_estimate(time, schedule.m * schedule.n / 64, table.split);
}

/// Static assertions of Gemm and NativeGemm: the tile has whole numbers of threads and waves, and its stages fit shared
/// memory.
template <class Schedule>
struct IsSimtTile {
    template <class X, class BoundPlan>
    FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
        constexpr SimtShape tile{Schedule::tile_m, Schedule::tile_n, Schedule::tile_k};
        constexpr bool whole = tile.has_whole_waves(), columns = !whole || tile.has_whole_columns(),
                       shares = !whole || !columns || tile.has_equal_shares(),
                       fits = !whole || !columns || !shares || tile.shared_bytes() <= 38 * 1024,
                       units = !NativeSchedule<Schedule> || Schedule::tile_n % 64 == 0;
        static_assert(whole, "Gemm: TileM must be a multiple of 64 and TileN of 32: a wave computes 64 x 32");
        static_assert(columns, "Gemm: the threads, TileM TileN / 64, must be a multiple of TileM and of TileN");
        static_assert(shares, "Gemm: the threads, TileM TileN / 64, must divide TileM TileK and TileN TileK");
        static_assert(fits, "Gemm: two buffers of (TileM + TileN + 8) TileK floats must fit 38 KB");
        static_assert(units || !whole || !columns,
                      "NativeGemm: TileN must be a multiple of 64, the channels of a wave");
        return whole && columns && shares && fits && units;
    }
};

}  // namespace detail

/// Entry of Gemm in the list of schedules (dispatch/list.hpp): its name, conditions and estimated time.
struct GemmEntry : ConvEntry {
    static constexpr char const* name = "Gemm";

    template <class Schedule>
    static constexpr bool describes = GemmSchedule<Schedule> && !NativeSchedule<Schedule> && !MatrixSchedule<Schedule>;
    /// Split-K kernels exist for float by float alone.
    template <class Schedule, class T, PlanTraits plan>
    static constexpr bool splits = std::is_same_v<T, float> && plan.same_weights;

    template <class Schedule>
    using CanImplement = detail::IsSimtTile<Schedule>;
    template <class Schedule>
    static constexpr ScheduleFacts facts{.m = Schedule::tile_m, .n = Schedule::tile_n, .k = Schedule::tile_k};
    FUSEKIT_H static Text written(ScheduleFacts const& of) {
        return "Gemm<" + detail::list_of(of.m, of.n, of.k, of.blocks) + ">";
    }
    FUSEKIT_H static constexpr Estimate cost(ScheduleFacts const& schedule, ConvCase const& of, CostTable const& table,
                                             GpuRates const& rates) {
        return detail::gemm_estimate(schedule, of, table, rates, table.gemm, rates.products);
    }
};

}  // namespace fusekit::hip
