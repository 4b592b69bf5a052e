// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/multicast.hpp"
#include "fusekit/backend/hip/schedule/entry.hpp"

namespace fusekit::hip {

/// GEMM of m pixels x n channels in `steps` k-tiles, for the cost model. narrow: fraction of k-tiles whose channels do
/// not fill a row; odd_packets: true if these channels are an odd number of 16-byte packets; last_packets: that number.
/// blocks_of_step: mean number of 32-byte k-blocks that are multiplied per k-tile. copied_bytes, packs_taps: as in
/// ConvCase. pads_columns: true if TMA also loads rows past the last filter. mn_major: true for the filters of a
/// TransposedConv: a k-tile has 64 rows of them per 64 channels of y; clipped_rows, past_rows: mean number of these
/// rows per k-tile that TMA clips, and that read past a tap (detail::encode_transposed_filters()). multicast: a CTA
/// loads half of this operand.
struct BulkProduct {
    std::int64_t m, n, steps;
    double narrow = 0;
    bool odd_packets = false;
    int row_bytes = 128;
    double blocks_of_step = row_bytes / 32;
    int copied_bytes = 0;
    bool packs_taps = false, pads_columns = true;
    std::int64_t groups = 1;  ///< products of m x n x K, one for each group of channels
    std::int64_t splits = 1;  ///< CTAs per tile
    bool mn_major = false;
    double clipped_rows = 0, past_rows = 0;
    int last_packets = 0;
    Multicast multicast = Multicast::none;
};

/// Work of tensor cores with operands loaded by TMA, for the cost model. The time of a k-tile is the maximum of five
/// terms. MMAs: a fitted factor times wgmma_cycles(m) for each 64 channels and 32 bytes of GemmK. SMEM: a fitted factor
/// times the cycles to read 64 + m rows at 128 bytes per cycle. L2: the operands' bytes at the bandwidth, divided by
/// the busy SMs. Copies: TMA, which is slower for narrow and short rows and for rows past the last filter; or a warp's
/// cp.async instructions. Chain: MMAs of a warpgroup that add to the same accumulators. With ping-pong the MMAs of the
/// next tile overlap the epilogue, so that a partly filled last round costs less.
FUSEKIT_H constexpr Workload warp_specialized_workload(ScheduleFacts const& schedule, BulkProduct const& of,
                                                       int processors, TmaCosts const& tma) {
    std::int64_t const rows = detail::divide_up(of.m, schedule.m),
                       columns = detail::divide_up(of.n, schedule.n) * of.groups, blocks = rows * columns * of.splits,
                       busy = blocks < processors ? blocks : processors;
    double const last_round = schedule.ping_pong ? tma.ping_pong_last_round : 1,
                 of_products = tma.products * wgmma_cycles(schedule.m),
                 of_rows = tma.shared_memory * (64 + schedule.m) / 4;
    std::int64_t const whole_blocks = detail::divide_up(of.n, std::int64_t{64}) * 64,
                       available = of.mn_major ? whole_blocks : of.n;
    auto const filters = static_cast<double>(available < schedule.n ? available : schedule.n),
               windows = static_cast<double>(of.m < schedule.m ? of.m : schedule.m);
    // rows that straddle L2's sectors, in whole k-tiles, too; a CTA loads half of a multicast operand
    bool const misaligned = of.odd_packets && of.narrow > 0 && of.narrow < 1 && of.groups == 1 && of.splits == 1 &&
                            of.copied_bytes == 0 && !of.mn_major && !of.packs_taps;
    double const loaded = windows / (of.multicast == Multicast::x ? 2 : 1) +
                          filters / (of.multicast == Multicast::w ? 2 : 1),
                 share = of.multicast == Multicast::none ? static_cast<double>(busy) / processors : 1,
                 of_whole = tma.misaligned_row * share > tma.least_misaligned_row ? tma.misaligned_row * share
                                                                                  : tma.least_misaligned_row,
                 of_misaligned =
                     of.last_packets > 1 ? of_whole + of.narrow * (tma.clipped_odd_row - of_whole) : of_whole;
    double const of_group_row = of.narrow * tma.group_row * (of.narrow < 1 ? tma.last_group_row : 1);
    double const narrow_factor = schedule.ping_pong ? tma.ping_pong_narrow : 1;
    // rows of a warpgroup's MMAs of a k-tile: those of x for each 64 channels
    double const chain_rows = schedule.m * (schedule.ping_pong ? schedule.n / 64.0 : 1);
    double const beyond = columns > 1 && of.pads_columns && of.groups == 1 && of.narrow < 1 && of.copied_bytes == 0
                              ? static_cast<double>(columns * schedule.n - of.n)
                              : 0,
                 of_row = of.copied_bytes > 0 ? tma.copy * of.row_bytes / (32 * of.copied_bytes)
                          : of.groups > 1     ? of_group_row
                          : of.mn_major       ? of.narrow * tma.transposed_row
                          : misaligned        ? of_misaligned
                          : of.packs_taps     ? (tma.packed_step + tma.packed_row * schedule.m) / (windows + filters)
                          : of.narrow > 0 ? of.narrow * (of.odd_packets ? tma.odd_row : tma.narrow_row) * narrow_factor
                          : of.row_bytes < 128 ? tma.short_row
                                               : 0,
                 chain = (tma.chain + tma.chain_row * chain_rows) * of.blocks_of_step / 4,
                 of_cache = loaded * of.row_bytes * static_cast<double>(busy) / processors,
                 // k-tiles of whole rows, in a long loop, beside narrow ones, which TMA limits
        whole = !misaligned && of.narrow > 0 && of.narrow < 1 && of.groups == 1 && of.steps > 4 &&
                        (!schedule.ping_pong || of.mn_major)
                    ? tma.beside_narrow * (1 - of.narrow) * schedule.n / 16 * of_products
                    : 0,
                 copies = whole + of_row * (misaligned ? loaded : windows + filters) +
                          tma.clipped_row * of.clipped_rows + tma.past_row * of.past_rows +
                          beyond * (tma.row_beyond + static_cast<double>(busy / columns) / tma.processors_beyond);
    return {.rounds = detail::rounds_of(rows * columns, processors, last_round),
            .steps = static_cast<double>(of.steps),
            .arithmetic = (of.mn_major && !schedule.ping_pong ? filters : schedule.n) / 64.0 * of.blocks_of_step *
                          (of_products > of_rows ? of_products : of_rows),
            .cache_bytes = (schedule.splits ? tma.split_cache : 1) * of_cache,
            .copies = copies > chain ? copies : chain,
            .outputs = static_cast<double>(schedule.m * schedule.n)};
}

}  // namespace fusekit::hip
