// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/bulk_row.hpp"
#include "fusekit/backend/hip/multicast.hpp"
#include "fusekit/backend/hip/schedule/phase_rounds.hpp"
#include "fusekit/backend/hip/schedule/warp_specialized_kernels.hpp"
#include "fusekit/backend/hip/schedule/warp_specialized_workload.hpp"
#include "fusekit/backend/hip/tma_limits.hpp"

/// The products of WarpSpecialized's tiles, for the cost model.
namespace fusekit::hip::detail {

/// Sets the rows of a TransposedConv's filters that are slow to load: those of the last 64 channels of y, in the
/// last column of tiles, if these are fewer. In the last channels of x, taps whose box passes the last tap are
/// clipped, which is slow for an odd number of packets of 8 channels, and where rows of less than 128 bytes share
/// lines of L2.
FUSEKIT_H constexpr void set_rows_of_taps(BulkProduct& product, ScheduleFacts const& schedule, ConvCase const& of) {
    constexpr std::int64_t box = 64, packet = 8;
    std::int64_t const channels = of.y[1], taps = of.taps, of_last = (divide_up(channels, box) * box - 1) / channels,
                       clipped = of_last < taps ? of_last : taps;
    product.mn_major = true;
    if (channels % box == 0) return;
    double const rows = static_cast<double>(box) / static_cast<double>(divide_up(channels, schedule.n));
    if (channels * taps < box || channels / packet % 2 != 0)
        product.clipped_rows = reads_past_taps(channels, taps) ? rows * static_cast<double>(clipped) /
                                                                     static_cast<double>(taps * divide_up(of.x[1], box))
                                                               : rows;
    product.past_rows = rows - product.clipped_rows;
}

FUSEKIT_H constexpr bool packs(ScheduleFacts const& schedule, ConvCase const& of) {
    return of.packs_taps && !schedule.splits && !schedule.is_plain &&
           fits_copied_rows(schedule.m, schedule.n, schedule.stages, schedule.ping_pong);
}

/// True if a launch without multicast of a schedule that has both kernels selects the general one.
FUSEKIT_H constexpr bool selects_general(ScheduleFacts const& schedule, ConvCase const& of) {
    return needs_general(of) || packs(schedule, of) || skips_blocks(schedule, of.x[1], of.y[1], of.phases > 1);
}

/// Number of channels after which k-tiles are zero-padded to whole k-tiles: those of one tap or, if taps are
/// packed, of all taps.
FUSEKIT_H constexpr std::int64_t channels_of_run(ScheduleFacts const& schedule, ConvCase const& of) {
    return packs(schedule, of) ? of.x[1] * of.taps : of.x[1] / of.product.groups;
}
FUSEKIT_H constexpr int row_bytes_of(ScheduleFacts const& schedule, ConvCase const& of) {
    return bulk_row_bytes(schedule.n, static_cast<int>(size_of(of.type)));
}

/// Work of a part of a convolution's products, with the operand that clusters of two CTAs multicast. time_alone():
/// without; time_in_pairs(): with that of a launch without a stream-K tail.
FUSEKIT_H constexpr Workload workload_of_part(PartTime const& all, Product const& part, Multicast multicast) {
    int const bytes = row_bytes_of(all.schedule, all.of), element = static_cast<int>(size_of(all.of.type));
    std::int64_t const channels = bytes / element, run = channels_of_run(all.schedule, all.of),
                       steps_of_run = divide_up(run, channels);
    bool const packs_taps = packs(all.schedule, all.of);
    BulkProduct product{part.m,
                        part.n,
                        divide_up(part.gemm_k, channels),
                        run % channels == 0 || packs_taps || (all.of.product.groups > 1 && run % whole_block == 0)
                            ? 0
                            : 1 / static_cast<double>(steps_of_run),
                        run * element % 32 != 0,
                        bytes,
                        all.schedule.is_plain ? bytes / 32.0
                                              : static_cast<double>(divide_up(run * bytes, 32 * channels)) /
                                                    static_cast<double>(steps_of_run),
                        all.of.copied_bytes,
                        packs_taps,
                        element == 1 || all.of.phases > 1,
                        all.of.product.groups,
                        part.groups / all.of.product.groups};
    product.last_packets = static_cast<int>(run * element % bytes / 16);
    product.multicast = multicast;
    if (all.of.transposed && all.of.phases == 1) set_rows_of_taps(product, all.schedule, all.of);
    Workload workload = warp_specialized_workload(all.schedule, product, all.rates.processors, all.table.tma);
    if (all.of.phases > 1)
        set_busiest(workload, PhaseRounds(all.schedule, all.of, all.rates.processors), divide_up(all.of.x[1], channels),
                    all.costs);
    return workload;
}
FUSEKIT_H constexpr Workload time_alone(PartTime const& all, Product const& part) {
    return workload_of_part(all, part, Multicast::none);
}

/// Returns the operand that a launch without a stream-K tail multicasts.
FUSEKIT_H constexpr Multicast multicast_of(ScheduleFacts const& schedule, ConvCase const& of, Product const& whole,
                                           GpuRates const& rates) {
    if (schedule.splits || schedule.is_plain || !launches_clusters(rates.architecture) || size_of(of.type) != 2 ||
        of.product.groups > 1 || of.phases > 1 || of.transposed || of.pools || of.totals || of.maxima ||
        of.copied_bytes > 0 || packs(schedule, of) || !fits_multicast(schedule.m, schedule.n, schedule.ping_pong))
        return Multicast::none;
    return MulticastCase{schedule.m, schedule.n, whole.m,          whole.n,
                         of.x[1],    of.taps,    rates.processors, selects_general(schedule, of)}
        .operand();
}
FUSEKIT_H constexpr Workload time_in_pairs(PartTime const& all, Product const& part) {
    return workload_of_part(all, part, multicast_of(all.schedule, all.of, part, all.rates));
}

}  // namespace fusekit::hip::detail
