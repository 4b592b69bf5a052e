// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/collective/merge_parts.hpp"
#include "fusekit/backend/hip/collective/weight_halo.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/schedule.hpp"
#include "fusekit/backend/hip/tuning/policy.hpp"

namespace fusekit::hip {

/// A gradient by the weights as a product: channels of y; blocks of 64 columns, of a tap and of all, with one of the
/// bias' gradient; and pixels. Windows are copied in boxes of their own kind.
struct WeightProduct {
    std::int64_t channels, blocks_of_tap, blocks, pixels;
    bool has_windows;

    std::int64_t halo_tiles() const { return detail::divide_up(channels, 64) * blocks_of_tap; }

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
    static constexpr double never = 1e300;  ///< where a block would have too many pixels, or a stage no room

    BlockParts parts;
    double cycles;
};

/// L2 gives a processor at least so many bytes a cycle where neighbours share an operand.
inline constexpr double shared_bytes_a_cycle = 60;

/// The cycles of a step: of its products; of bytes from L2; or of bulk copies, of which one of windows
/// takes 300 and another 1.3 a pixel.
template <class Schedule>
double weight_step_cycles(WeightProduct const& of) {
    constexpr double rows = Schedule::rows / 64.0, pixels = Schedule::pixels;
    double const columns = static_cast<double>(of.blocks * 64 < Schedule::columns ? of.blocks : Schedule::columns / 64);
    double const products = rows * Schedule::columns / 2 * pixels / 16, bytes = (rows + columns) * 128 * pixels,
                 copies = (rows + (of.has_windows ? 0 : columns)) * 1.3 * pixels + (of.has_windows ? 300 * columns : 0);
    double const longer = products > bytes / shared_bytes_a_cycle ? products : bytes / shared_bytes_a_cycle;
    return longer > copies ? longer : copies;
}

/// Tiles whose steps may be shared: of so many bytes of sums, in steps of so many cycles; without promotion a block
/// takes `most_steps` at most.
struct SharedSteps {
    std::int64_t tiles, steps, tile_bytes, most_steps;
    double cycles;
};

/// How many clusters run at once with a block a processor. A cluster is in one part of a GPU, which has 16 processors
/// or more; of 132, 31 clusters of 4 and 15 of 8 do.
constexpr std::int64_t clusters_at_once(int processors, unsigned cluster) {
    int const size = static_cast<int>(cluster), whole = processors > 24 ? processors - 8 : processors;
    return cluster <= 2 ? processors / size : whole / 16 * (16 / size) + whole % 16 / size;
}

/// The shares of a tile's steps with which a product takes the fewest cycles: of the blocks of a cluster, and
/// of several clusters or blocks, through workspace. A block takes 6000 cycles beside its steps.
inline WeightShares share_steps(SharedSteps const& of, SharingLimits const& limits) {
    constexpr std::size_t states = GroupWorkspace::state_bytes;
    std::int64_t const room = limits.workspace_bytes < states
                                  ? 0
                                  : static_cast<std::int64_t>(limits.workspace_bytes - states) / of.tile_bytes;
    WeightShares best{{}, WeightShares::never};
    for (unsigned cluster = 1; cluster <= limits.most_cluster && cluster <= of.steps; ++cluster) {
        std::int64_t const at_once = clusters_at_once(limits.processors, cluster);
        if (at_once < 1) break;
        bool const has_states = of.tiles * cluster <= std::int64_t{GroupWorkspace::most_grid_groups};
        for (std::int64_t groups = 1; groups == 1 || (has_states && of.tiles * groups <= room); ++groups) {
            std::int64_t const parts = cluster * groups, of_part = detail::divide_up(of.steps, parts);
            if (parts > of.steps) break;
            if (of_part > of.most_steps) continue;
            double const merged =
                             (cluster > 1 ? 2000 : 0) + (groups > 1 ? 3000 + 300.0 * static_cast<double>(groups) : 0),
                         cycles = static_cast<double>(detail::divide_up(of.tiles * groups, at_once)) *
                                  (static_cast<double>(of_part) * of.cycles + 6000 + merged);
            if (cycles >= best.cycles) continue;
            best.parts.cluster = cluster, best.parts.groups = static_cast<unsigned>(groups);
            best.cycles = cycles;
        }
    }
    return best;
}

/// Those of a tile's pixels.
template <class Schedule>
WeightShares share_pixels(WeightProduct const& of, SharingLimits const& limits) {
    std::int64_t const steps = detail::divide_up(of.pixels, Schedule::pixels);
    return share_steps(
        {of.tiles<Schedule>(), steps, std::int64_t{Schedule::rows} * Schedule::columns * 4,
         Schedule::promotes ? steps : Schedule::unpromoted_pixels / Schedule::pixels, weight_step_cycles<Schedule>(of)},
        limits);
}

/// Those of its rows, where x is read once for all taps: `images` images of so many steps each.
template <class Schedule>
WeightShares share_rows(std::int64_t tiles, std::int64_t images, WeightHalo<Schedule::pixels> const& of,
                        SharingLimits const& limits) {
    if (of.stages(Schedule::stage_bytes, Schedule::most_stages) < 2) return {{}, WeightShares::never};
    int const taps = of.window_rows * of.window_columns;
    double const products = of.lines() / 16 * taps * 32, bytes = of.bytes_of_y() + of.bytes_of_x();
    return share_steps(
        {tiles, images * of.steps, std::int64_t{Schedule::channels} * (taps * Schedule::channels + 4) * 4,
         Schedule::unpromoted_pixels / (of.rows * of.pitch),
         products > bytes / shared_bytes_a_cycle ? products : bytes / shared_bytes_a_cycle},
        limits);
}

}  // namespace fusekit::hip
