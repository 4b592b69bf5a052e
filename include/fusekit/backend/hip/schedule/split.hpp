// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/collective/grid_group.hpp"
#include "fusekit/backend/hip/schedule/operand_types.hpp"
#include "fusekit/backend/hip/schedule/plan_traits.hpp"
#include "fusekit/backend/hip/schedule/walk.hpp"
#include "fusekit/backend/hip/unmet.hpp"

namespace fusekit::hip {

/// Split-K of a Gemm, a MatrixGemm, WarpSpecialized<64, 64, Stages> or Planes of 16 bits: Parts consecutive CTAs share
/// GemmK of a tile: 2, 4 or 8; 0 lets the library choose the number. Planes use at most one CTA for each 64 channels of
/// x.
template <class Schedule, int Parts = 0>
struct Split : Schedule {
    using Whole = Schedule;
    static constexpr int parts = Parts;
    static constexpr int piece_k = Schedule::threads < 128 ? 64 : 128;  ///< parts start at its multiples
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

/// Schedule whose tiles a Split shares; other schedules are their own.
template <class Schedule>
using WholeSchedule = typename detail::WholeOf<Schedule>::Type;

/// CTAs per tile in a schedule's type.
template <class Schedule>
inline constexpr int parts_of = 1;
template <SplitSchedule Schedule>
inline constexpr int parts_of<Schedule> = Schedule::parts;

/// True if a plan has split-K kernels: float by float, or on sm_90a's matrix units, without totals of tiles.
template <class Plan, Element T>
inline constexpr bool can_split = (multiplies_floats<Plan, T> || has_matrix_units<Plan, T>) && !Plan::totals_tiles;

/// True if a launch may use clusters on an architecture: the GPU has them, and so do all targets of the program.
FUSEKIT_H inline bool launches_clusters(Architecture architecture) {
    return kernels_cluster && with_tag(architecture, []<class Tag>(Tag) { return Tag::processor.has_clusters; });
}

namespace detail {

/// Returns the best time of a Split with 2, 4 or 8 CTAs per tile, each with a part of GemmK; infinite if tiles are too
/// many, or if more than `most_blocks` CTAs would share tiles. time_of(product, exchanges) is the time of the products.
/// A processor's CTAs exchange accumulators one after another; each doubling of the CTAs per tile costs `exchange`
/// cycles. `threads` is the number of MMA threads per CTA.
template <class TimeOf>
FUSEKIT_H Estimate split_estimate(ScheduleFacts const& schedule, int threads, Product const& of,
                                  std::int64_t most_tiles, std::int64_t most_blocks, double exchange, int processors,
                                  TimeOf const& time_of) {
    int const piece_k = threads < 128 ? 64 : 128;
    std::int64_t const tiles = count_tiles(schedule, of), pieces = divide_up(of.gemm_k, piece_k);
    Estimate best;
    if (tiles > most_tiles) return best;
    double exchanges = exchange;
    for (int parts = 2; parts <= 8 && parts <= pieces && parts * tiles <= most_blocks; parts *= 2) {
        Product part = of;
        part.groups *= parts;
        part.gemm_k = piece_k * divide_up(pieces, parts);
        Estimate time = time_of(part, exchanges * static_cast<double>(divide_up(parts * tiles, processors)));
        time.parts = parts;
        if (time.seconds < best.seconds) best = time;
        exchanges += exchange;
    }
    return best;
}

/// Most CTAs that may share tiles. Outside clusters they synchronize through workspace and must be co-resident: one per
/// processor.
FUSEKIT_H inline std::int64_t most_sharing_blocks(ScheduleFacts const& schedule, GpuRates const& rates,
                                                  std::size_t workspace_bytes) {
    if (launches_clusters(rates.architecture)) return std::int64_t{1} << 31;
    std::size_t const bytes = workspace_bytes < most_workspace_bytes ? workspace_bytes : most_workspace_bytes;
    if (bytes < GroupWorkspace::state_bytes) return 0;
    auto const most = static_cast<std::int64_t>((bytes - GroupWorkspace::state_bytes) /
                                                (static_cast<std::size_t>(schedule.m * schedule.n) * sizeof(float)));
    return most < rates.processors ? most : rates.processors;
}

/// Time of a schedule whose operands pass through registers, with `threads` threads per CTA.
FUSEKIT_H inline Estimate register_estimate(PartTime const& time, int threads, SplitCosts const& split) {
    if (!time.schedule.splits) return time(time.of.product);
    bool const clusters = launches_clusters(time.rates.architecture);
    return split_estimate(time.schedule, threads, time.of.product,
                          std::int64_t{split.most_tiles} * time.rates.processors,
                          most_sharing_blocks(time.schedule, time.rates, time.of.workspace_bytes),
                          clusters ? split.cluster_cycles : split.workspace_cycles, time.rates.processors, time);
}

}  // namespace detail

}  // namespace fusekit::hip
