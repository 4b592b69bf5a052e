// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/abi.hpp"
#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// Schedule of a reduction whose elements a cluster keeps in registers (ClusterReducing). A packet, the vector that a
/// thread loads at once, has `packet_bytes` bytes. A segment of matrix columns is `widest` packets wide (32 bytes, a
/// sector of L2) or half of that. A thread keeps up to `few` packets of each of `tensors` inputs or, in a second
/// kernel, up to `many`.
template <int tensors, int packet_bytes = 16>
struct ClusterReduction {
    static constexpr int threads = 256, few = 64 / packet_bytes, many = packet_bytes < 16 ? few : tensors == 1 ? 16 : 7;
    static constexpr unsigned widest = 32 / packet_bytes;
};

/// Limit on CTAs per SM, over the whole launch, for clusters with many packets per thread: two rounds of two resident
/// CTAs. Larger tensors run Reducing, whose time hides the barrier of a grid group.
inline constexpr std::int64_t max_cluster_blocks_per_processor = 4;

/// Division of a reduction into clusters: packets per row of a segment, CTAs per cluster, packets per thread. The width
/// is 0 if a segment does not fit a cluster's registers.
struct ClusterCut {
    unsigned width = 0, cluster = 0;
    int packets = 0;
};

namespace detail {

/// Divides a reduction into clusters of up to max_cluster CTAs of Schedule: over `steps` rows of `columns` packets or,
/// if columns = 0, over `segments` channels of `steps` packets each. Prefers few packets per thread, then wide
/// segments. A cluster has the fewest CTAs that hold a segment, and more if SMs would be idle.
template <class Schedule>
FUSEKIT_H constexpr ClusterCut cut_into_clusters(std::int64_t segments, std::int64_t columns, std::int64_t steps,
                                                 unsigned max_cluster, std::int64_t processors) {
    unsigned const widest = columns > 0 ? Schedule::widest : 1, narrow_width = widest > 1 ? widest / 2 : 1;
    auto const cut = [&](unsigned width, int most) -> ClusterCut {
        if (width > narrow_width && width >= 2 * columns) return {};
        std::int64_t const rows = Schedule::threads / static_cast<int>(width),
                           clusters = columns > 0 ? divide_up(columns, width) : segments;
        unsigned cluster = 1;
        while (cluster < max_cluster &&
               (steps > rows * most * cluster || (steps > rows * cluster && clusters * cluster * 2 <= processors)))
            cluster *= 2;
        std::int64_t const packets = divide_up(steps, rows * cluster);
        if (packets > most ||
            (most > Schedule::few && clusters * cluster > max_cluster_blocks_per_processor * processors))
            return {};
        return {width, cluster, static_cast<int>(packets)};
    };
    for (int const most : {Schedule::few, Schedule::many}) {
        ClusterCut const wide = cut(widest, most), narrow = cut(narrow_width, most);
        // With many packets per thread, narrow segments are preferred if wide ones would leave SMs idle.
        bool const idle = most == Schedule::many && columns > 0 && narrow.width > 0 &&
                          divide_up(columns, widest) * wide.cluster < processors;
        if (wide.width > 0 && !idle) return wide;
        if (narrow.width > 0) return narrow;
    }
    return {};
}

}  // namespace detail

}  // namespace fusekit::hip
