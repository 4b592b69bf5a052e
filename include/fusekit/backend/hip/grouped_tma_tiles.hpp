// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/grouped_tiles.hpp"

namespace fusekit::hip {

/// Tile of GroupedTmaConv: `rows` x `columns` pixels of y of `images` images, and `channels` channels. TMA loads the
/// pixels of x that the tile's windows read (the box) into one of `stages` SMEM stages, and stores the tile of y.
struct GroupedTmaTile {
    /// an M-row of an MMA is a run: 7 consecutive pixels of a row of y. A warp multiplies 16 runs by 16 filters
    static constexpr int run = 7, side = 3, filters_per_warp = 16, max_shared_bytes = 200 * 1024, box_limit = 256;

    int channels = 0;  ///< 32 or 64
    int images = 0, rows = 0, columns = 0;  ///< columns: a multiple of `run`
    int box_rows = 0, box_columns = 0;  ///< of x, of one image
    int stages = 0;  ///< 1 or 2
    int steps = 0;  ///< MMAs of a run and 8 filters

    FUSEKIT_HD constexpr int pixel_bytes() const { return 2 * channels; }
    FUSEKIT_HD constexpr int runs() const { return images * rows * (columns / run); }
    /// Bytes of a stage of x, of the tile of y and of the filters; the first two are multiples of 1024, because
    /// swizzled boxes are aligned.
    FUSEKIT_HD constexpr int box_bytes() const { return images * box_rows * box_columns * pixel_bytes(); }
    FUSEKIT_HD constexpr int stage_bytes() const { return (box_bytes() + 1023) / 1024 * 1024; }
    FUSEKIT_HD constexpr int y_bytes() const { return (images * rows * columns * pixel_bytes() + 1023) / 1024 * 1024; }
    FUSEKIT_HD constexpr int filter_bytes() const { return channels / filters_per_warp * steps * 512; }
    FUSEKIT_HD constexpr int bytes() const { return stages * stage_bytes() + y_bytes() + filter_bytes(); }
};

/// A tile, the number of CTAs that an SM runs at once, and the estimated cycles of the busiest SM; no rows if no tile
/// fits.
struct GroupedTmaChoice {
    GroupedTmaTile tile;
    int resident = 0;
    double cycles = 0;
};

/// Kernel argument of GroupedTmaConv. A CTA has one block of channels and every n-th tile of pixels; tiles count first
/// along columns, then rows, then images.
struct GroupedTmaTiles {
    GroupedTmaTile tile = {};
    FastDivmod channel_blocks = {}, across = {}, down = {};
    FastDivmod runs_across = {}, rows = {};  ///< of a tile
    FastDivmod group_channels = {};
    unsigned count = 0;  ///< tiles of pixels
    bool paired_weights = false;  ///< true if two weights of consecutive channels are one aligned word
};

namespace detail {

/// True if GroupedTmaConv computes a convolution: 3 x 3 taps, stride 1 or 2, groups of 4, 8, 16, 32 or 64 channels of x
/// and as many of y.
FUSEKIT_H constexpr bool has_tma_groups(GroupedProblem const& of) {
    Filter<2> const& filter = of.filter;
    std::int64_t const channels = of.c / of.groups;
    return of.c == of.k && channels >= 4 && channels <= 64 && (channels & (channels - 1)) == 0 &&
           of.spread.strides == PerMode<2>{1, 1} && filter.size == PerMode<2>{3, 3} &&
           filter.dilations == PerMode<2>{1, 1} && filter.strides[0] == filter.strides[1] && filter.strides[0] <= 2;
}

/// Cycles of an SM for one tile: MMAs of a run's 7 pixels and 16 filters, and bytes from L2.
FUSEKIT_H constexpr double tma_cycles_of(GroupedTmaTile const& tile, int warps) {
    std::int64_t const items = divide_up(tile.runs(), 16) * (tile.channels / GroupedTmaTile::filters_per_warp),
                       rounds = divide_up(items, warps);
    return static_cast<double>(rounds) * (28.0 * tile.steps + 250);
}

}  // namespace detail

/// Returns the fastest tile by an estimate. Precondition: has_tma_groups(). `warps`: of a CTA.
FUSEKIT_H constexpr GroupedTmaChoice choose_tma_tile(GroupedProblem const& of, int warps, int processors) {
    using Tile = GroupedTmaTile;
    GroupedTmaChoice best;
    Filter<2> const& filter = of.filter;
    int const group = static_cast<int>(of.c / of.groups), stride = filter.strides[0];
    std::int64_t const runs = detail::divide_up(of.q, std::int64_t{Tile::run});
    for (int const channels : {32, 64}) {
        if (group > channels || channels / Tile::filters_per_warp > warps) continue;
        Tile tile;
        tile.channels = channels, tile.steps = group < 16 ? 6 : 9 * (group / 16);
        std::int64_t const blocks = detail::divide_up(of.c, std::int64_t{channels});
        for (std::int64_t const most_runs : {8, 4, 2}) {
            std::int64_t const across = detail::divide_up(runs, most_runs),
                               columns = detail::divide_up(runs, across) * Tile::run;
            for (std::int64_t const most_rows : {16, 8, 7, 4, 2, 1}) {
                std::int64_t const down = detail::divide_up(of.p, most_rows), rows = detail::divide_up(of.p, down);
                for (std::int64_t images = 1; images <= 8 && images <= of.n; images *= 2) {
                    if (images > 1 && (across > 1 || down > 1)) break;
                    std::int64_t const box_rows = (rows - 1) * stride + 3, box_columns = (columns - 1) * stride + 3;
                    if (box_rows > Tile::box_limit || box_columns > Tile::box_limit) continue;
                    tile.images = static_cast<int>(images), tile.rows = static_cast<int>(rows);
                    tile.columns = static_cast<int>(columns);
                    tile.box_rows = static_cast<int>(box_rows), tile.box_columns = static_cast<int>(box_columns);
                    std::int64_t const tiles = detail::divide_up(of.n, images) * down * across;
                    for (tile.stages = 2; tile.stages > 0; --tile.stages) {
                        if (tile.bytes() > Tile::max_shared_bytes) continue;
                        int const fit = 230 * 1024 / (tile.bytes() + 3 * 1024), most = 16 / warps,
                                  resident = fit < most ? fit : most;
                        std::int64_t const slots = std::int64_t{processors} * resident / blocks,
                                           of_block = slots > tiles ? tiles
                                                      : slots > 0   ? slots
                                                                    : 1,
                                           rounds = detail::divide_up(tiles, of_block),
                                           ctas = detail::divide_up(of_block * blocks, std::int64_t{processors});
                        if (tile.stages == 2 && rounds == 1) continue;
                        double const at_once = static_cast<double>(ctas < resident ? ctas : resident),
                                     waves = static_cast<double>(detail::divide_up(ctas, std::int64_t{resident})),
                                     of_tile = detail::tma_cycles_of(tile, warps),
                                     // MMAs of several CTAs share the tensor cores; a CTA alone waits for latencies
                            multiply = of_tile * (at_once * warps > 8 ? at_once * warps / 8 : 1),
                                     load = at_once * (tile.box_bytes() + tile.y_bytes()) / 22.0,
                                     wait = tile.stages == 2 ? 200 : 200 + 900 / at_once,
                                     longer = multiply > load ? multiply : load,
                                     cycles = waves * (static_cast<double>(rounds) * (longer + wait) + load / 2 + 1200 +
                                                       tile.filter_bytes() / 20.0);
                        if (best.tile.rows == 0 || cycles < best.cycles) best = {tile, resident, cycles};
                    }
                }
            }
        }
    }
    return best;
}

}  // namespace fusekit::hip
