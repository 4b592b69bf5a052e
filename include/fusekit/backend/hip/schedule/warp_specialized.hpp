// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/bulk_row.hpp"
#include "fusekit/backend/hip/schedule/bulk_product.hpp"
#include "fusekit/backend/hip/schedule/entry.hpp"
#include "fusekit/backend/hip/schedule/split.hpp"
#include "fusekit/backend/hip/schedule/stream_k_tail.hpp"
#include "fusekit/backend/hip/schedule/tma_operands.hpp"
#include "fusekit/backend/hip/schedule/warp_specialized_kernels.hpp"

namespace fusekit::hip {

/// Tiles of the MMA warpgroups on sm_90a. Cooperative: all warpgroups multiply one tile, 64 channels each. Ping-pong:
/// each of two warpgroups has a tile of its own; one multiplies while the other runs its epilogue.
enum class Roles { cooperative, ping_pong };

/// Schedule of a warp-specialized implicit GEMM on sm_90a's tensor cores, for channels-last tensors of 16 or 8 bits. A
/// tile is TileM pixels of y (64, 96, 128, 144, 192 or 256) x TileN channels of y (64, 128 or, with cooperative roles,
/// 192). One producer warp issues TMA loads of k-tiles into Stages stages of SMEM; MMA warpgroups multiply them. A
/// k-tile is 128 bytes of GemmK (64 bytes for 8-bit elements with TileN = 64). CTAs are persistent. Blocks is the
/// intended number of CTAs per SM. Cooperative CTAs may divide the tiles of the last round (stream_k_tail.hpp).
/// Half and bfloat16 x or weights that are misaligned for TMA are copied by all producer warps (copy/copied_rows.hpp).
/// Groups of channels of 16-bit elements, a multiple of 8 each, have tiles of their own.
///
/// Errors: a static_assert fails if the stages exceed 224 KB in total. A call with operands that neither TMA nor the
/// producer warps load throws Error with the first unmet condition.
template <int TileM, int TileN, int Stages, Roles TheRoles = Roles::cooperative, int Blocks = 1>
struct WarpSpecialized {
    static constexpr int tile_m = TileM, tile_n = TileN, stages = Stages, blocks = Blocks;
    static constexpr Roles roles = TheRoles;
    static constexpr bool ping_pong = roles == Roles::ping_pong;
    static constexpr int consumers = ping_pong ? 2 : TileN / 64;  ///< warpgroups that issue MMAs
    static constexpr int products = ping_pong ? TileN / 64 : 1;  ///< accumulators of a warpgroup, for 64 channels each
    static constexpr int threads = (consumers + 1) * 128;
    /// Bytes of SMEM for the stages of operands with elements of `element_bytes` bytes, and for one tile of y with
    /// elements of 16 bits.
    FUSEKIT_H static constexpr int shared_bytes(int element_bytes) {
        return stages * (TileM + TileN) * bulk_row_bytes(TileN, element_bytes) + consumers * products * TileM * 128;
    }
};

template <class Schedule>
concept WarpSpecializedSchedule = HasBlocks<Schedule> && requires {
    Schedule::tile_m, Schedule::tile_n, Schedule::stages, Schedule::consumers, Schedule::products, Schedule::ping_pong,
        Schedule::shared_bytes(2);
};

/// The library selects the number of CTAs per tile of a stream-K tail.
template <int TileM, int TileN, int Stages, Roles TheRoles, int Blocks>
inline constexpr int split_k_of<WarpSpecialized<TileM, TileN, Stages, TheRoles, Blocks>> = 0;

namespace detail {

/// Costs of WarpSpecialized, plus those of ChannelStatistics if the plan has them. A column is all tiles with the same
/// channels. If the number of columns divides the number of warpgroups in the grid, all tiles of a warpgroup are in one
/// column and it stores one total; otherwise each tile stores its own, which costs more.
FUSEKIT_H constexpr Costs tma_costs(ScheduleFacts const& schedule, ConvCase const& of, CostTable const& table,
                                    int processors) {
    if (schedule.splits) return table.split_warp_specialized;
    Costs costs = schedule.ping_pong ? table.warp_specialized_ping_pong : table.warp_specialized;
    if (!of.stores_by_tma) costs.round += table.tma.stored_pixel * schedule.m;
    if (!of.totals) return costs;
    Costs const& more = schedule.ping_pong ? table.totals_ping_pong : table.totals;
    std::int64_t const tiles = count_tiles(schedule, of.product), tiles_per_block = schedule.ping_pong ? 2 : 1,
                       tiles_in_flight = tiles_per_block * (tiles < processors ? tiles : processors);
    costs.launch += more.launch, costs.output += more.output;
    if (tiles_in_flight % divide_up(of.product.n, schedule.n) != 0) costs.round += more.round;
    return costs;
}

}  // namespace detail

/// Entry of WarpSpecialized in the list of schedules (dispatch/list.hpp): its name, conditions and estimated time.
struct WarpSpecializedEntry : TmaEntry<WarpSpecializedEntry> {
    static constexpr char const* name = "WarpSpecialized";

    template <class Schedule>
    static constexpr bool describes = WarpSpecializedSchedule<Schedule>;
    template <class Schedule, class T, PlanTraits plan>
    static constexpr bool splits = Schedule::tile_m == 64 && Schedule::tile_n == 64 && sizeof(T) == 2;

    template <class T>
    FUSEKIT_H static constexpr PlanConditions conditions(PlanTraits const& plan) {
        return {.factors = (detail::is_16_bits<T> || detail::is_sm90a_byte<T>) && plan.same_weights,
                .prologue = !plan.prologue,
                .pool = !plan.pools || (sizeof(T) == 2 && !plan.by_pixel),
                .totals = sizeof(T) > 1 || !plan.totals};
    }
    template <class Schedule>
    struct CanImplement {
        template <class X, class BoundPlan>
        FUSEKIT_H static consteval bool accepts(void const*, BoundPlan const*) {
            using T = ElementOf<X>;
            constexpr PlanConditions plan = conditions<T>(traits_of<typename BoundPlan::Plan, T>());
            constexpr int m = Schedule::tile_m, n = Schedule::tile_n;
            constexpr bool rows = m == 64 || m == 96 || m == 128 || m == 144 || m == 192 || m == 256,
                           columns = n == 64 || n == 128 || (n == 192 && !Schedule::ping_pong),
                           stages = Schedule::stages >= 2,
                           fits = !rows || !columns || Schedule::shared_bytes(sizeof(T)) <= 224 * 1024,
                           has_room = n < 192 || BoundPlan::Plan::Epilogue::maxima == 0;
            static_assert(
                plan.factors,
                "WarpSpecialized: x and weights must both be half, bfloat16, int8, e4m3 or e5m2: use MatrixGemm "
                "of float");
            static_assert(plan.prologue, "WarpSpecialized: no operator before the Conv or Gemm: use MatrixGemm");
            static_assert(
                plan.pool,
                "WarpSpecialized: a Pool follows 16-bit products and operators that depend on the channel alone: use "
                "MatrixGemm");
            static_assert(plan.totals, "WarpSpecialized of 8 bits: no ChannelStatistics in the plan: use NativeGemm");
            static_assert(rows, "WarpSpecialized: TileM must be 64, 96, 128, 144, 192 or 256");
            static_assert(columns, "WarpSpecialized: TileN must be 64, 128 or, with cooperative roles, 192");
            static_assert(stages, "WarpSpecialized: Stages must be 2 or more");
            static_assert(
                fits,
                "WarpSpecialized: Stages of (TileM + TileN) 128 bytes, and 128 TileM bytes for each 64 channels, "
                "twice as many with ping_pong, must fit 224 KB: use fewer Stages");
            static_assert(has_room,
                          "WarpSpecialized: TileN = 192 leaves no shared memory for the maxima of an Amax: use 128");
            return plan.met() && rows && columns && stages && fits && has_room;
        }
    };

    /// Returns the first unmet condition of a plan of elements T and results U that meets conditions(); extents are not
    /// checked.
    template <class Plan, class T, class U>
    FUSEKIT_H static consteval Unmet unmet_by_plan() {
        constexpr bool bits_16 = detail::is_16_bits<T>, bytes = detail::is_sm90a_byte<T>;
        if (Unmet const unmet = detail::unmet_by_tma_loads<Plan, true>()) return unmet;
        return detail::first_unmet(
            detail::holds(!bits_16 || std::is_same_v<T, U>, "y's type is not x's", "use MatrixGemm"),
            detail::holds(!bytes || std::is_same_v<T, U> || detail::is_16_bits<U>,
                          "y's type is neither x's nor of 16 bits", "use NativeGemm"),
            detail::holds(!bytes || !has_transposed_conv<Plan>, "a TransposedConv of 8 bits", "use NativeGemm"));
    }

    template <class Schedule, class T, class U>
    FUSEKIT_H static constexpr Unmet can_implement(ConvCase const& of) {
        bool const grouped = sizeof(T) == 2 && sizeof(U) == 2;
        return detail::first_unmet(
            grouped ? unmet_by_groups(of) : detail::unmet_by_channels_last(of),
            detail::holds(!SplitSchedule<Schedule> || of.phases == 1, "a TransposedConv with a stride has phases",
                          "use WarpSpecialized without Split"),
            detail::holds(!SplitSchedule<Schedule> || !of.pools, "a Pool's windows have pixels of several CTAs",
                          "use WarpSpecialized without Split"),
            of.pools ? detail::unmet_by_pool(of.filter, of.product.groups > 1) : Unmet{});
    }
    template <class Schedule>
    static constexpr ScheduleFacts facts{.ping_pong = Schedule::ping_pong,
                                         .m = Schedule::tile_m,
                                         .n = Schedule::tile_n,
                                         .stages = Schedule::stages,
                                         .is_plain = kernels_of<Schedule>() == Kernels::plain};
    FUSEKIT_H static Text written(ScheduleFacts const& of) {
        return "WarpSpecialized<" + detail::list_of(of.m, of.n, of.stages) + (of.ping_pong ? ", ping_pong" : "") +
               (of.blocks == 1 ? "" : ", " + Text::number(of.blocks)) + ">";
    }
    FUSEKIT_H static constexpr Estimate cost(ScheduleFacts const& schedule, ConvCase const& of, CostTable const& table,
                                             GpuRates const& rates) {
        if (unmet_by_groups(of) || !of.aligned_pixels) return {};
        if (of.pools && (schedule.splits || detail::unmet_by_pool(of.filter, of.product.groups > 1))) return {};
        if (of.maxima && schedule.n == 192) return {};  // SMEM has no room for maxima
        if (of.product.groups > 1 && (size_of(of.type) != 2 || of.copied_bytes > 0)) return {};
        if (schedule.is_plain && detail::needs_general(of)) return {};
        if (of.copied_bytes > 0 && !fits_copied_rows(schedule.m, schedule.n, schedule.stages, schedule.ping_pong))
            return {};
        int const processors = rates.processors, row_bytes = detail::row_bytes_of(schedule, of);
        Costs costs = detail::tma_costs(schedule, of, table, processors);
        if (detail::packs(schedule, of) && of.taps == 1) costs.round += table.tma.packed_pixel * schedule.m;
        detail::PartTime const time{schedule, of, table, rates, costs, 0, detail::time_alone};
        std::int64_t const of_step = row_bytes / static_cast<int>(size_of(of.type)),
                           runs = detail::packs(schedule, of) ? 1 : of.taps,
                           steps = detail::divide_up(
                               detail::divide_up(detail::channels_of_run(schedule, of), of_step) * runs, of.phases);
        Product const whole{of.product.m, of.product.n, of.product.groups, steps * of_step};
        if (!schedule.splits) {
            Estimate result = with_tail(time, whole, steps);
            std::int64_t const of_pixel = of.y[1] * static_cast<int>(size_of(of.type));
            if (of.phases > 1 && of_pixel < 64 && of_pixel % 32 != 0) result.seconds *= table.tma.partial_sectors;
            return result;
        }
        if (!launches_clusters(rates.architecture)) return {};
        return detail::split_estimate(schedule, schedule.m * schedule.n / 64, whole, processors, processors,
                                      table.bulk_split.cluster_cycles, processors, time, table.idle);
    }

    /// True if a launch without multicast of a schedule that has both kernels selects the general one.
    FUSEKIT_H static constexpr bool selects_general(ScheduleFacts const& schedule, ConvCase const& of) {
        return detail::selects_general(schedule, of);
    }

    /// True if the kernel computes several groups of channels of a plan.
    template <class Plan, class T, class U>
    static constexpr bool may_have_groups = Plan::Head::may_be_grouped && sizeof(T) == 2 && sizeof(U) == 2 &&
                                            !Plan::totals_tiles && !has_transposed_conv<Plan>;

private:
    /// Returns the shorter estimate, without or with a stream-K tail; `split_k`: CTAs per tile of the tail.
    FUSEKIT_H static constexpr Estimate with_tail(detail::PartTime const& time, Product const& whole,
                                                  std::int64_t steps) {
        ScheduleFacts const& schedule = time.schedule;
        ConvCase const& of = time.of;
        Estimate best = detail::PartTime{
            schedule, of, time.table, time.rates, time.costs, time.products, detail::time_in_pairs}(whole);
        bool const is_plain = of.product.groups == 1 && of.phases == 1 && of.copied_bytes == 0 &&
                              !detail::packs(schedule, of) && !of.totals && !of.maxima && of.type != DataType::int8;
        if (!is_plain || !launches_clusters(time.rates.architecture) ||
            !fits_stream_k_tail(schedule.m, schedule.n, schedule.stages, schedule.ping_pong, schedule.blocks))
            return best;
        for (int const splits : {2, 4}) {
            TailSplit const tail(detail::count_tiles(schedule, whole), steps, splits, time.rates.processors,
                                 time.table.idle);
            if (tail.splits == 1) continue;
            Workload workload = time.workload_of(time, whole);
            detail::set_tail(workload, tail, steps, schedule, time.table.tma);
            Estimate divided = estimate(workload, time.costs, of.product.bytes, time.table, time.rates);
            divided.split_k = splits;
            if (divided.seconds < best.seconds) best = divided;
        }
        return best;
    }
    /// Returns the first condition on channel strides, and on several groups of channels of 16-bit elements, that a
    /// convolution does not meet.
    FUSEKIT_H static constexpr Unmet unmet_by_groups(ConvCase const& of) {
        std::int64_t const groups = of.product.groups;
        if (groups == 1) return detail::unmet_by_channels_last(of);
        if (Unmet const unmet = detail::unmet_by_channel_strides(of)) return unmet;
        char const* const fix = "use Halo, Grouped or MatrixGemm";
        return detail::first_unmet(
            detail::holds(!of.transposed && !of.totals, "groups of a TransposedConv or with ChannelStatistics", fix),
            detail::multiple_of("C / groups", of.x[1] / groups, 8, fix),
            detail::multiple_of("K / groups", of.y[1] / groups, 8, fix), detail::unmet_by_im2col(of.filter, true));
    }
};

}  // namespace fusekit::hip
