// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/collective/merge_parts.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/schedule.hpp"
#include "fusekit/backend/hip/tuning/policy.hpp"

namespace fusekit::hip {

/// A gradient by the weights as a product: channels of y; blocks of 64 columns, with one of the bias' gradient; and
/// pixels. Windows are copied in boxes of their own kind.
struct WeightProduct {
    std::int64_t channels, blocks, pixels;
    bool has_windows;

    template <class Schedule>
    std::int64_t tiles() const {
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
    BlockParts parts;
    double cycles;
};

/// The cycles of a step: of its products; of bytes from L2, at 45 a cycle; or of bulk copies, of which one of windows
/// takes 300 and another 1.3 a pixel.
template <class Schedule>
double weight_step_cycles(WeightProduct const& of) {
    constexpr double rows = Schedule::rows / 64.0, pixels = Schedule::pixels;
    double const columns = static_cast<double>(of.blocks * 64 < Schedule::columns ? of.blocks : Schedule::columns / 64);
    double const products = rows * Schedule::columns / 2 * pixels / 16, bytes = (rows + columns) * 128 * pixels,
                 copies = (rows + (of.has_windows ? 0 : columns)) * 1.3 * pixels + (of.has_windows ? 300 * columns : 0);
    double const longer = products > bytes / 45 ? products : bytes / 45;
    return longer > copies ? longer : copies;
}

/// The shares of a tile's pixels with which a product takes the fewest cycles: of the blocks of a cluster, a power of
/// two, and of several clusters or blocks, through workspace.
template <class Schedule>
WeightShares share_pixels(WeightProduct const& of, SharingLimits const& limits) {
    std::int64_t const tiles = of.tiles<Schedule>(), steps = detail::divide_up(of.pixels, Schedule::pixels);
    constexpr std::int64_t tile_bytes = std::int64_t{Schedule::rows} * Schedule::columns * 4;
    constexpr std::size_t states = GroupWorkspace::state_bytes;
    std::int64_t const room =
        limits.workspace_bytes < states ? 0 : static_cast<std::int64_t>(limits.workspace_bytes - states) / tile_bytes;
    double const step = weight_step_cycles<Schedule>(of);
    WeightShares best{{}, 0};
    for (unsigned cluster = 1; cluster <= limits.most_cluster && cluster <= steps; cluster *= 2) {
        // Clusters of four and more do not fill all parts of a GPU.
        std::int64_t const at_once = (limits.processors - (cluster > 2 ? 8 : 0)) / static_cast<int>(cluster);
        if (at_once < 1) break;
        bool const has_states = tiles * cluster <= std::int64_t{GroupWorkspace::most_grid_groups};
        for (std::int64_t groups = 1; groups == 1 || (has_states && tiles * groups <= room); ++groups) {
            std::int64_t const parts = cluster * groups, of_part = detail::divide_up(steps, parts);
            if (parts > steps) break;
            if (!Schedule::promotes && of_part * Schedule::pixels > Schedule::unpromoted_pixels) continue;
            double const merged =
                             (cluster > 1 ? 2000 : 0) + (groups > 1 ? 3000 + 400.0 * static_cast<double>(groups) : 0),
                         cycles = static_cast<double>(detail::divide_up(tiles * groups, at_once)) *
                                  (static_cast<double>(of_part) * step + 6000 + merged);
            if (best.cycles != 0 && cycles >= best.cycles) continue;
            best.parts.cluster = cluster, best.parts.groups = static_cast<unsigned>(groups);
            best.cycles = cycles;
        }
    }
    if (best.cycles == 0) best.cycles = 1e300;  // no share has few enough pixels
    return best;
}

}  // namespace fusekit::hip
