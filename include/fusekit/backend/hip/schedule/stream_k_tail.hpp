// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/schedule/split.hpp"
#include "fusekit/backend/hip/schedule/tma_operands.hpp"

/// Stream-K tail of WarpSpecialized: the CTAs of a cluster of 2 or 4 reduce one output tile of the last, partly filled
/// round, each over a range of its k-tiles, and add their accumulators through DSMEM. The other rounds have a tile per
/// CTA.
namespace fusekit::hip {

/// True if WarpSpecialized's cooperative kernels of a plan have code for a tail: with float accumulators, and without
/// statistics and Amax.
template <class Plan, class T>
inline constexpr bool has_stream_k_tail =
    arch::is_targeted<arch::Sm90a> && (detail::is_16_bits<T> || detail::is_float8<T>) &&
    std::is_same_v<typename Plan::Head::template WeightElement<T>, T> && !Plan::totals_tiles &&
    Plan::Epilogue::maxima == 0;

/// True if a WarpSpecialized schedule has code for a tail: its roles are cooperative, with two MMA warpgroups, and the
/// stages have room for the accumulators of a tile.
FUSEKIT_H constexpr bool fits_stream_k_tail(int m, int n, int stages, bool ping_pong, int blocks) {
    return n == 128 && m % 32 == 0 && !ping_pong && blocks == 1 && m * n * 4 <= stages * (m + n) * 128;
}

/// Division of the tiles of a launch of WarpSpecialized: `blocks` persistent CTAs in clusters of `splits`.
struct TailSplit {
    int splits = 1;
    std::int64_t blocks = 0, whole = 0;  ///< whole: number of rounds before the last

    FUSEKIT_H constexpr TailSplit() = default;

    /// Number of persistent CTAs in clusters of `splits`. Some SMs cannot run clusters of 4.
    FUSEKIT_H static constexpr std::int64_t max_blocks(int splits, int processors, IdleInClusters const& idle) {
        std::int64_t const usable = splits == 4 ? processors - processors / idle.of_4 : processors;
        return usable / splits * splits;
    }

    /// Division of `tiles` tiles of `steps` k-tiles each; splits is 1 if `the_splits` CTAs cannot divide the last
    /// round's: there are none, too many, or fewer k-tiles than CTAs. Clusters of 4 divide the tiles of a single round
    /// only: after whole rounds they take longer than clusters of 2, because the other SMs idle in all rounds.
    FUSEKIT_H constexpr TailSplit(std::int64_t tiles, std::int64_t steps, int the_splits, int processors,
                                  IdleInClusters const& idle) {
        if ((the_splits != 2 && the_splits != 4) || steps < the_splits) return;
        std::int64_t const most = max_blocks(the_splits, processors, idle), remaining = most > 0 ? tiles % most : 0;
        if (remaining == 0 || remaining * the_splits > most || (the_splits == 4 && tiles > most)) return;
        splits = the_splits, whole = tiles / most, blocks = whole > 0 ? most : remaining * splits;
    }
};

namespace detail {

/// Sets a workload's rounds and steps to those of a launch with a tail, and adds the exchange of accumulators: a CTA
/// receives those of half a tile from each of the others.
FUSEKIT_H constexpr void set_tail(Workload& workload, TailSplit const& of, std::int64_t steps,
                                  ScheduleFacts const& schedule, TmaCosts const& tma) {
    auto const whole = static_cast<double>(of.whole),
               last = static_cast<double>(divide_up(steps, std::int64_t{of.splits}));
    workload.rounds = whole + 1;
    if (of.whole == 0) workload.cache_bytes *= of.splits * tma.divided_cache;
    workload.steps = (whole * static_cast<double>(steps) + last) / workload.rounds;
    workload.exchanges = tma.exchange + (of.splits - 1) * (schedule.m * schedule.n / 2 * 4) / tma.exchanged_bytes;
}

}  // namespace detail

}  // namespace fusekit::hip
