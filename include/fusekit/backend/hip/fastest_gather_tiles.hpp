// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/gather_tiles.hpp"
#include "fusekit/backend/hip/tuning/tile_costs.hpp"

/// The choice among the tilings of GatheredPlanes, by their estimated times.
namespace fusekit::hip {

namespace detail {

/// Mean number of units of x that producer warps load per tile and channel.
FUSEKIT_H constexpr double gathered_units(GatherTiles const& tiles) {
    double const plane = static_cast<double>(tiles.x_height) * tiles.x_width,
                 images = static_cast<double>(tiles.length(0)) / (static_cast<double>(tiles.height) * tiles.pitch),
                 rows = static_cast<double>(tiles.length(0)) / tiles.pitch * tiles.stride_h +
                        (tiles.row_segments - 1) * tiles.dilation_h;
    if (images >= 1) return images * static_cast<double>(tiles.units.value()) + 1;
    return (rows < tiles.x_height ? rows / tiles.x_height : 1) * plane / GatherTiles::unit + 1;
}

/// Mean number of positions that a tile has of a pixel of these units: several with a segment per tap.
FUSEKIT_H constexpr double stored_copies(GatherTiles const& tiles, double units) {
    double const of_row = tiles.tap_width == 0 ? tiles.column_segments : 1;
    if (tiles.tap_height != 0 || tiles.row_segments == 1) return of_row;
    double const of_segment =
        static_cast<double>(tiles.length(0)) / tiles.pitch * tiles.stride_h * tiles.x_width / GatherTiles::unit + 1;
    return of_row * tiles.row_segments * (of_segment < units ? of_segment / units : 1);
}

/// Mean number of taps that a tile multiplies (GatherTiles::TapRows).
FUSEKIT_H constexpr double multiplied_taps(GatherTiles const& tiles) {
    int const rows = tiles.tile_pixels() / tiles.pitch + 1;
    if (rows >= tiles.y_height) return tiles.taps();
    double taps = 0;
    for (int row = 0; row < tiles.y_height; row += rows) {
        GatherTiles::TapRows const used = tiles.tap_rows_of(static_cast<std::uint32_t>(row * tiles.pitch));
        taps += (used.end - used.begin) * tiles.tap_columns;
    }
    return taps / static_cast<double>(divide_up(tiles.y_height, rows));
}

/// Estimated cycles of a slice of 16 channels of a tile, for GatheredPlanes: the maximum of the cycles of MMAs, of SMEM
/// accesses, and of the producers.
FUSEKIT_H constexpr double gather_cycles(GatherTiles const& tiles) {
    using Costs = GatherTileCosts;
    double const taps = multiplied_taps(tiles), units = gathered_units(tiles), copies = stored_copies(tiles, units),
                 mma = Costs::mmas * taps, alternating = Costs::alternating_mmas * taps + Costs::fragments * taps / 4,
                 filters = tiles.tile_filters() * tiles.all_taps / 4.0,
                 shared = Costs::shared * taps + filters + Costs::shared_unit * copies * units,
                 unit = tiles.x_height * tiles.x_width % 2 == 0 ? Costs::unit : Costs::odd_unit,
                 gathered = unit * (1 + copies) / 2 * units;
    double most = mma;
    for (double const other : {alternating, shared, gathered}) most = other > most ? other : most;
    return tiles.stages < 2 ? mma + gathered + Costs::only_stage : most;
}

/// Bytes of x and of filters that a CTA reads from L2 per slice of 16 channels.
FUSEKIT_H constexpr double gathered_bytes(GatherTiles const& tiles) {
    return gathered_units(tiles) * GatherTiles::slice * 160 + 32.0 * tiles.tile_filters() * tiles.all_taps;
}

}  // namespace detail

/// Returns the tiling with the least estimated time on `processors` SMs; `stages` is 0 if none fits SMEM or no tap is
/// in bounds of x. With split-K, `sharers` CTAs reduce a tile, which has 128 channels.
FUSEKIT_H constexpr GatherTiles gather_tiles(Index<4> const& x, Index<4> const& y, Filter<2> const& filter,
                                             int processors, int sharers = 1) {
    GatherTiles best;
    double least = 0;
    for (int variant = 0; variant < (sharers > 1 ? 4 : 8); ++variant) {
        detail::GatherMode const rows(filter, 0, x[2], y[2], variant & 1), columns(filter, 1, x[3], y[3], variant & 2);
        std::int64_t const all_taps = std::int64_t{filter.size[0]} * filter.size[1],
                           positions = y[0] * rows.pitch * columns.pitch;
        if (rows.taps == 0 || columns.taps == 0 || all_taps > GatherTiles::max_taps || positions >= 1 << 30) return {};
        GatherTiles tiles;
        tiles.images = static_cast<int>(y[0]);
        tiles.y_height = static_cast<int>(y[2]), tiles.y_width = static_cast<int>(y[3]);
        tiles.x_height = static_cast<int>(x[2]), tiles.x_width = static_cast<int>(x[3]);
        tiles.all_taps = static_cast<int>(all_taps), tiles.window_columns = filter.size[1];
        tiles.first_tap_row = rows.first_tap, tiles.first_tap_column = columns.first_tap;
        tiles.tap_rows = rows.taps, tiles.tap_columns = columns.taps;
        tiles.stride_h = rows.stride, tiles.stride_w = columns.stride;
        tiles.dilation_h = rows.dilation, tiles.dilation_w = columns.dilation;
        tiles.pad_top = rows.pad, tiles.pad_left = columns.pad;
        tiles.row_step = rows.step, tiles.column_step = columns.step;
        tiles.tap_height = rows.distance, tiles.tap_width = columns.distance;
        tiles.row_segments = rows.segments, tiles.column_segments = columns.segments;
        tiles.height = static_cast<int>(rows.pitch), tiles.pitch = static_cast<int>(columns.pitch);
        tiles.wide = (variant & 4) != 0;
        auto const divisor = [](std::int64_t value) { return FastDivmod(static_cast<std::uint32_t>(value)); };
        tiles.of_row = divisor(columns.pitch), tiles.of_image = divisor(rows.pitch * columns.pitch);
        tiles.of_plane = divisor(y[2] * y[3]);
        tiles.of_x_row = divisor(x[3]), tiles.units = divisor(detail::divide_up(x[2] * x[3], GatherTiles::unit));
        tiles.of_stride_h = divisor(rows.stride), tiles.of_stride_w = divisor(columns.stride);
        tiles.channel_tiles = divisor(detail::divide_up(y[1], tiles.tile_filters()));
        tiles.positions = static_cast<unsigned>(positions);
        tiles.tiles =
            static_cast<unsigned>(detail::divide_up(positions, tiles.tile_pixels())) * tiles.channel_tiles.value();
        std::int64_t const longest = tiles.length(0);
        if (longest > 8192) continue;
        tiles.segment_pixels = static_cast<int>((longest + 7) / 8 * 8);
        if (tiles.segments() * tiles.segment_pixels >= (1 << 14) - 8) continue;
        std::int64_t const units = tiles.most_units();
        if (units > 1 << 10) continue;
        tiles.unit_positions = static_cast<int>(detail::divide_up(units, GatherTiles::warps)) * tiles.copies();
        if (tiles.unit_positions > GatherTiles::max_unit_positions) continue;
        for (tiles.slices = 4; tiles.slices >= 1; tiles.slices /= 2) {
            int const fit = tiles.positions_begin() / tiles.stage_bytes();
            tiles.stages = fit < GatherTiles::max_stages ? fit : GatherTiles::max_stages;
            if (tiles.slices > 1 && (tiles.stages < 3 || tiles.slices * tiles.taps() > 12)) continue;
            break;
        }
        if (tiles.slices == 0 || tiles.stages == 0) continue;
        tiles.filter_chunks = divisor(std::int64_t{2} * tiles.slices * tiles.all_taps);
        double const rounds = static_cast<double>(
                         detail::divide_up(static_cast<std::int64_t>(tiles.tiles) * sharers, processors)),
                     time = rounds * detail::gather_cycles(tiles);
        if (best.stages == 0 || time < least) best = tiles, least = time;
    }
    return best;
}

}  // namespace fusekit::hip
