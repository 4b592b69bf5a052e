// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/collective/grid_group.hpp"
#include "fusekit/backend/hip/schedule/operand_types.hpp"
#include "fusekit/backend/hip/schedule/plan_traits.hpp"
#include "fusekit/backend/hip/schedule/workload.hpp"
#include "fusekit/backend/hip/unmet.hpp"

namespace fusekit::hip {

/// Schedule of a Gemm, a MatrixGemm, WarpSpecialized<64, 64, Stages>, 16-bit Planes or GatheredPlanes with split-K:
/// Factor (2, 4 or 8) consecutive CTAs compute one tile, each over a range of GemmK, and add their accumulators. With
/// Factor = 0 the library selects the number. Planes have at most one CTA for each 64 channels of x.
template <class Schedule, int Factor = 0>
struct Split : Schedule {
    using Whole = Schedule;
    static constexpr int split_k = Factor;
    /// each CTA's range of GemmK starts at a multiple of piece_k
    static constexpr int piece_k = Schedule::threads < 128 ? 64 : 128;
};

template <class Schedule>
concept SplitSchedule = HasBlocks<Schedule> && requires {
    typename Schedule::Whole;
    Schedule::piece_k;
};

namespace detail {

template <class Schedule>
struct WholeOf {
    using Type = Schedule;
};
template <SplitSchedule Schedule>
struct WholeOf<Schedule> {
    using Type = typename Schedule::Whole;
};

}  // namespace detail

/// Schedule without split-K: S for Split<S>, else the schedule itself.
template <class Schedule>
using WholeSchedule = typename detail::WholeOf<Schedule>::Type;

/// Split-K factor in a schedule's type, which is the number of CTAs per tile; 0 if the library selects it, 1 without
/// split-K and without a stream-K tail.
template <class Schedule>
inline constexpr int split_k_of = 1;
template <SplitSchedule Schedule>
inline constexpr int split_k_of<Schedule> = Schedule::split_k;

/// True if a plan has split-K kernels: x and w are float, or 16-bit types that sm_90a's tensor cores multiply, and no
/// ChannelStatistics follow the Conv or Gemm.
template <class Plan, Element T>
inline constexpr bool can_split = (multiplies_floats<Plan, T> || has_matrix_units<Plan, T>) && !Plan::totals_tiles;

/// True if a launch may use clusters: the GPU's architecture and all targets of the program have them.
FUSEKIT_H constexpr bool launches_clusters(Architecture architecture) {
    return kernels_cluster && with_tag(architecture, []<class Tag>(Tag) { return Tag::processor.has_clusters; });
}

namespace detail {

/// Returns the shortest estimated time of split-K with 2, 4 or 8 CTAs per tile, and this number of CTAs. The time is
/// infinite if there are more than `max_tiles` tiles, or if more than `max_blocks` CTAs would be needed. time_of(part,
/// cycles) returns the time of a GEMM of one CTA's range of GemmK (`part`) plus `cycles`, in which CTAs add their
/// accumulators: the CTAs of an SM do so one after another, and each doubling of the CTAs per tile costs `exchange`
/// cycles. `threads` is the number of a CTA's threads that issue MMAs. `idle`: SMs on which no cluster can run.
template <class TimeOf>
FUSEKIT_H constexpr Estimate split_estimate(ScheduleFacts const& schedule, int threads, Product const& of,
                                            std::int64_t max_tiles, std::int64_t max_blocks, double exchange,
                                            int processors, TimeOf const& time_of,
                                            IdleInClusters const& idle = {1 << 30, 1 << 30}) {
    int const piece_k = threads < 128 ? 64 : 128;
    std::int64_t const tiles = count_tiles(schedule, of), pieces = divide_up(of.gemm_k, piece_k);
    Estimate best;
    if (tiles > max_tiles) return best;
    double exchanges = exchange;
    for (int split_k = 2; split_k <= 8 && split_k <= pieces; split_k *= 2) {
        int const unused = split_k == 8 ? processors / idle.of_8 : split_k == 4 ? processors / idle.of_4 : 0;
        if (split_k * tiles > max_blocks - unused) break;
        Product part = of;
        part.groups *= split_k;
        part.gemm_k = piece_k * divide_up(pieces, split_k);
        Estimate time = time_of(part, exchanges * static_cast<double>(divide_up(split_k * tiles, processors)));
        time.split_k = split_k;
        if (time.seconds < best.seconds) best = time;
        exchanges += exchange;
    }
    return best;
}

/// Number of SMs on which clusters of `split_k` CTAs can run.
FUSEKIT_H constexpr int processors_of_clusters(int split_k, int processors, IdleInClusters const& idle) {
    return processors - (split_k == 8 ? processors / idle.of_8 : split_k == 4 ? processors / idle.of_4 : 0);
}

/// Returns the shortest estimated time of split-K by clusters of 2, 4 or 8 CTAs per tile, at most `max_split_k`, and
/// this number of CTAs. time_of(split_k, processors) returns the time on the SMs that clusters of `split_k` CTAs
/// occupy. The time is infinite if a launch may not use clusters.
template <class TimeOf>
FUSEKIT_H constexpr Estimate cluster_split_estimate(std::int64_t max_split_k, CostTable const& table,
                                                    GpuRates const& rates, TimeOf const& time_of) {
    Estimate best;
    if (!launches_clusters(rates.architecture)) return best;
    for (int split_k = 2; split_k <= 8 && split_k <= max_split_k; split_k *= 2) {
        Estimate time = time_of(split_k, processors_of_clusters(split_k, rates.processors, table.idle));
        time.split_k = split_k;
        if (time.seconds < best.seconds) best = time;
    }
    return best;
}

/// Largest number of CTAs of a launch with split-K. CTAs in clusters are not limited. Other CTAs exchange accumulators
/// through the workspace, which limits their number by its size, and must be co-resident: one per SM.
FUSEKIT_H constexpr std::int64_t max_sharing_blocks(ScheduleFacts const& schedule, GpuRates const& rates,
                                                    std::size_t workspace_bytes) {
    if (launches_clusters(rates.architecture)) return std::int64_t{1} << 31;
    std::size_t const bytes = workspace_bytes < max_workspace_bytes ? workspace_bytes : max_workspace_bytes;
    if (bytes < GroupWorkspace::state_bytes) return 0;
    auto const most = static_cast<std::int64_t>((bytes - GroupWorkspace::state_bytes) /
                                                (static_cast<std::size_t>(schedule.m * schedule.n) * sizeof(float)));
    return most < rates.processors ? most : rates.processors;
}

/// Estimated time of a Gemm, NativeGemm or MatrixGemm schedule, whose operands are loaded through registers. `threads`:
/// threads per CTA.
FUSEKIT_H constexpr Estimate register_estimate(PartTime const& time, int threads, SplitCosts const& split) {
    if (!time.schedule.splits) return time(time.of.product);
    bool const clusters = launches_clusters(time.rates.architecture);
    return split_estimate(time.schedule, threads, time.of.product,
                          std::int64_t{split.max_tiles} * time.rates.processors,
                          max_sharing_blocks(time.schedule, time.rates, time.of.workspace_bytes),
                          clusters ? split.cluster_cycles : split.workspace_cycles, time.rates.processors, time);
}

}  // namespace detail

}  // namespace fusekit::hip
