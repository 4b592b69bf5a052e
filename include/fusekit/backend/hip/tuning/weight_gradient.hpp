// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/collective/merge_parts.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/schedule/bulk_weights.hpp"
#include "fusekit/backend/hip/tuning/policy.hpp"

namespace fusekit::hip {

/// A gradient by the weights as a product: channels of y; blocks of 64 columns, with one of the bias' gradient; pixels;
/// and the bytes of x and dy. Windows are copied in boxes of their own kind.
struct WeightProduct {
    std::int64_t channels, blocks, pixels;
    bool has_windows;
    std::int64_t bytes = 0;

    template <class Schedule>
    FUSEKIT_H std::int64_t tiles() const {
        return detail::divide_up(channels, Schedule::rows) * detail::divide_up(blocks, Schedule::columns / 64);
    }
};

/// What blocks may share a tile with: processors, clusters of so many blocks, and workspace.
struct SharingLimits {
    int processors;
    unsigned most_cluster;
    std::size_t workspace_bytes;
};

/// Among how many blocks a tile's pixels are shared, and the cycles that the product takes then.
struct WeightShares {
    static constexpr double never = 1e300;  ///< where a block would have too many pixels

    BlockParts parts;
    double cycles;
};

/// The cycles of a step: as many as its products take, its bytes from L2, or its bulk copies. L2 gives 70 bytes a
/// cycle, or 42 where neighbours of the grid are a cluster and so have different pixels. A copy of windows takes 325
/// cycles, and another copy 0.8 a pixel.
template <class Schedule>
FUSEKIT_H double weight_step_cycles(WeightProduct const& of, unsigned cluster) {
    auto const held = [](std::int64_t blocks, int most) { return static_cast<double>(blocks < most ? blocks : most); };
    double const rows = held(detail::divide_up(of.channels, 64), Schedule::rows / 64),
                 columns = held(of.blocks, Schedule::columns / 64), pixels = Schedule::pixels;
    double const products = Schedule::rows / 64 * (Schedule::columns / 2) * pixels / 16,
                 bytes = (rows + columns) * 128 * pixels / (cluster == 1 ? 70 : 42),
                 copies = (rows + (of.has_windows ? 0 : columns)) * 0.8 * pixels + (of.has_windows ? 325 * columns : 0);
    double const longer = products > bytes ? products : bytes;
    return longer > copies ? longer : copies;
}

/// How many clusters run at once with a block a processor. A cluster is in one part of a GPU, which has 16 processors
/// or more; of 132, 31 clusters of 4 and 15 of 8 do.
FUSEKIT_H constexpr std::int64_t clusters_at_once(int processors, unsigned cluster) {
    int const size = static_cast<int>(cluster), whole = processors > 24 ? processors - 8 : processors;
    return cluster <= 2 ? processors / size : whole / 16 * (16 / size) + whole % 16 / size;
}

/// The shares of a tile's pixels with which a product takes the fewest cycles: of the blocks of a cluster, and of
/// several clusters or blocks, through workspace. Memory gives 1960 bytes a cycle. Beside its steps a block takes 2000
/// cycles and 320 for each thousand of its tile's sums; in a cluster, 1500 and 55 more; where groups merge, 8700, and
/// 70 for each thousand sums of each group that it reads. On an H100 the choice takes 2 % longer than the best of what
/// was measured (13 layers, batch 64, geometric mean).
template <class Schedule>
FUSEKIT_H WeightShares share_pixels(WeightProduct const& of, SharingLimits const& limits) {
    constexpr std::size_t states = GroupWorkspace::state_bytes;
    constexpr std::int64_t tile_bytes = std::int64_t{Schedule::rows} * Schedule::columns * 4;
    constexpr double thousands = tile_bytes / 4000.0;
    std::int64_t const tiles = of.tiles<Schedule>(), steps = detail::divide_up(of.pixels, Schedule::pixels);
    std::int64_t const most_steps = Schedule::promotes ? steps : Schedule::unpromoted_pixels / Schedule::pixels;
    std::int64_t const room =
        limits.workspace_bytes < states ? 0 : static_cast<std::int64_t>(limits.workspace_bytes - states) / tile_bytes;
    WeightShares best{{}, WeightShares::never};
    for (unsigned cluster = 1; cluster <= limits.most_cluster && cluster <= steps; ++cluster) {
        std::int64_t const at_once = clusters_at_once(limits.processors, cluster);
        double const step = weight_step_cycles<Schedule>(of, cluster);
        if (at_once < 1) break;
        bool const has_states = tiles * cluster <= std::int64_t{GroupWorkspace::most_grid_groups};
        for (std::int64_t groups = 1; groups == 1 || (has_states && tiles * groups <= room); ++groups) {
            std::int64_t const parts = cluster * groups, of_part = detail::divide_up(steps, parts);
            if (parts > steps) break;
            if (of_part > most_steps) continue;
            double const rounds = static_cast<double>(detail::divide_up(tiles * groups, at_once)),
                         steps_take = rounds * static_cast<double>(of_part) * step,
                         memory_takes = static_cast<double>(of.bytes) / 1960,
                         merged = (cluster > 1 ? 1500 + 55 * thousands : 0) +
                                  (groups > 1 ? 8700 + 70 * thousands * static_cast<double>(groups) / cluster : 0),
                         cycles = (steps_take > memory_takes ? steps_take : memory_takes) +
                                  rounds * (2000 + 320 * thousands + merged);
            if (cycles >= best.cycles) continue;
            best.parts.cluster = cluster, best.parts.groups = static_cast<unsigned>(groups);
            best.cycles = cycles;
        }
    }
    return best;
}

}  // namespace fusekit::hip
