// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/tuning/tile_costs.hpp"

namespace fusekit::hip {

/// Kernel argument: the tiles of TmaPlanes. A plane is divided into groups of 64 consecutive pixels, the last one
/// partly filled; a tile is some groups, of one or more images, x 64 channels of y for each warpgroup. The warpgroups
/// share a tile's pixels (cooperative) or have tiles of their own.
struct TmaPlaneTiles {
    static constexpr int pixels = 64, filters = 64, channels = 64, max_groups = 3, max_stages = 12, warpgroups = 2;
    static constexpr int group_bytes = 2 * pixels * channels, filter_bytes = 2 * filters * channels,
                         stage_bytes = 208 * 1024;

    FastDivmod of_image = {};  ///< divisor: groups of an image
    FastDivmod columns = {};  ///< divisor: tiles along the channels of y
    std::uint32_t all_groups = 0, tiles = 0;
    int plane = 0;  ///< pixels of a plane
    int groups = 1;  ///< groups of a tile
    bool cooperative = true;
    int stages = 1, k_tiles = 0;
    int box_filters = 64;  ///< filters of a TMA load

    FUSEKIT_HD constexpr int filters_of_tile() const { return cooperative ? warpgroups * filters : filters; }
    FUSEKIT_HD constexpr int bytes_of_stage() const {
        return groups * group_bytes + (cooperative ? warpgroups : 1) * filter_bytes;
    }
    /// Estimated cycles of the busiest SM with these tiles.
    FUSEKIT_H constexpr double cycles(int processors) const {
        using Costs = TmaPlaneTileCosts;
        int const together = cooperative ? 1 : warpgroups, multiplied = groups == 1 ? 1 : max_groups;
        auto const rounds = static_cast<double>(divide_up_32(static_cast<int>(tiles), together * processors));
        double const products =
                         static_cast<double>(warpgroups * multiplied * channels / 16 * pixels / 2) * Costs::products,
                     loads = static_cast<double>(together * bytes_of_stage()) / Costs::bytes,
                     chain = Costs::step + Costs::group_step * groups;
        double step = products > loads ? products : loads;
        if (chain > step) step = chain;
        return rounds * (k_tiles * step + Costs::tile + Costs::group * groups);
    }

    /// The fastest tiles for n images of planes of `plane` pixels, c channels of x and k of y.
    FUSEKIT_H static constexpr TmaPlaneTiles of(std::int64_t n, std::int64_t plane, std::int64_t c, std::int64_t k,
                                                int processors) {
        TmaPlaneTiles best;
        double least = 0;
        for (int groups = 1; groups <= max_groups; ++groups)
            for (int cooperative = 0; cooperative < 2; ++cooperative) {
                TmaPlaneTiles const tiles(n, plane, c, k, groups, cooperative > 0);
                double const time = tiles.cycles(processors);
                if (best.tiles > 0 && time >= least) continue;
                best = tiles, least = time;
            }
        return best;
    }

    FUSEKIT_H constexpr TmaPlaneTiles() = default;

private:
    FUSEKIT_H constexpr TmaPlaneTiles(std::int64_t n, std::int64_t the_plane, std::int64_t c, std::int64_t k,
                                      int the_groups, bool is_cooperative)
        : plane(static_cast<int>(the_plane)),
          groups(the_groups),
          cooperative(is_cooperative),
          k_tiles(divide_up_32(static_cast<int>(c), channels)),
          box_filters(k < filters ? static_cast<int>(k) : filters) {
        int const per_image = divide_up_32(plane, pixels),
                  in_columns = divide_up_32(static_cast<int>(k), filters_of_tile());
        of_image = FastDivmod(static_cast<std::uint32_t>(per_image));
        columns = FastDivmod(static_cast<std::uint32_t>(in_columns));
        all_groups = static_cast<std::uint32_t>(n * per_image);
        tiles = static_cast<std::uint32_t>(divide_up_32(static_cast<int>(all_groups), groups) * in_columns);
        int const fit = stage_bytes / bytes_of_stage();
        stages = fit < max_stages ? fit : max_stages;
        if (!cooperative) stages = stages / warpgroups * warpgroups;  // each warpgroup has stages of its own
    }
};

}  // namespace fusekit::hip
