// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"
#include "fusekit/backend/hip/collective/grid_group.hpp"
#include "fusekit/backend/hip/schedule/operand_types.hpp"
#include "fusekit/backend/hip/schedule/plan_traits.hpp"
#include "fusekit/backend/hip/schedule/walk.hpp"
#include "fusekit/backend/hip/unmet.hpp"

namespace fusekit::hip {

/// Split-K of a Gemm, a MatrixGemm, WarpSpecialized<64, 64, Stages> or Planes of 16 bits: Parts neighbouring CTAs share
/// GemmK of a tile: 2, 4 or 8; 0 where the library chooses the number with the schedule. Planes are shared by one CTA
/// for each 64 channels of x at most.
template <class Schedule, int Parts = 0>
struct Split : Schedule {
    using Whole = Schedule;
    static constexpr int parts = Parts;
    static constexpr int piece_k = Schedule::threads < 128 ? 64 : 128;  ///< parts begin at its multiples
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

/// The schedule whose tiles a Split shares; of others, the schedule.
template <class Schedule>
using WholeSchedule = typename detail::WholeOf<Schedule>::Type;

/// How many CTAs share a tile, as a schedule's type says.
template <class Schedule>
inline constexpr int parts_of = 1;
template <SplitSchedule Schedule>
inline constexpr int parts_of<Schedule> = Schedule::parts;

/// Whether a plan has kernels whose CTAs share a tile's GemmK: of float by float, or on sm_90a's matrix units, without
/// totals of tiles.
template <class Plan, Element T>
inline constexpr bool can_split = (multiplies_floats<Plan, T> || has_matrix_units<Plan, T>) && !Plan::totals_tiles;

/// Whether a launch may be of clusters on such a GPU: it has them, and so has all code of the program.
FUSEKIT_H inline bool launches_clusters(Architecture architecture) {
    return kernels_cluster && with_tag(architecture, []<class Tag>(Tag) { return Tag::processor.has_clusters; });
}

namespace detail {

/// The best of a Split's times with 2, 4 or 8 CTAs a tile, each of which has a piece of GemmK; infinite where tiles
/// are not shared: where they are many, or would be shared by more than `most_blocks` CTAs. time_of(product,
/// exchanges) is the products' time; a processor's CTAs exchange sums one after another, which takes `exchange`
/// cycles for each doubling of the CTAs a tile. A CTA has so many threads that multiply.
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

/// How many CTAs may share tiles. Outside clusters they synchronize through workspace and must be resident together:
/// one a processor.
FUSEKIT_H inline std::int64_t most_sharing_blocks(ScheduleFacts const& schedule, GpuRates const& rates,
                                                  std::size_t workspace_bytes) {
    if (launches_clusters(rates.architecture)) return std::int64_t{1} << 31;
    std::size_t const bytes = workspace_bytes < most_workspace_bytes ? workspace_bytes : most_workspace_bytes;
    if (bytes < GroupWorkspace::state_bytes) return 0;
    auto const most = static_cast<std::int64_t>((bytes - GroupWorkspace::state_bytes) /
                                                (static_cast<std::size_t>(schedule.m * schedule.n) * sizeof(float)));
    return most < rates.processors ? most : rates.processors;
}

/// The time of a schedule whose operands pass through registers, with `threads` threads a CTA.
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
