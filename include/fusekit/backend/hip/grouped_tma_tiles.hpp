// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/grouped_tiles.hpp"
#include "fusekit/backend/hip/tuning/tile_costs.hpp"

namespace fusekit::hip {

/// Tile of GroupedTmaConv: `rows` x `columns` pixels of y of `images` images, and `channels` channels; of a gradient by
/// x through a stride of 2 as many pixels of each of the 2 x 2 phases. TMA loads the pixels of x that the tile's
/// windows read (the box) into one of `stages` SMEM stages, and stores the tile of y.
struct GroupedTmaTile {
    /// an M-row of an MMA is a run: 7 consecutive pixels of a row of y. A warp multiplies 16 runs by 16 filters
    static constexpr int run = 7, side = 3, filters_per_warp = 16, max_shared_bytes = 200 * 1024, box_limit = 256,
                         max_stages = 2;

    int channels = 0;  ///< 32 or 64
    int images = 0, rows = 0, columns = 0;  ///< columns: a multiple of `run`
    int box_rows = 0, box_columns = 0;  ///< of x, of one image
    int stages = 0;  ///< 1 or 2
    int warps = 0;  ///< 4 or 8
    int group = 0;  ///< channels of a group
    int phases = 1;  ///< of y in each mode: 1, or 2

    FUSEKIT_HD constexpr int pixel_bytes() const { return 2 * channels; }
    FUSEKIT_HD constexpr int runs() const { return images * rows * (columns / run); }
    /// Bytes of a stage of x, of the tile of y and of the filters; the first two are multiples of 1024, because
    /// swizzled boxes are aligned.
    FUSEKIT_HD constexpr int box_bytes() const { return images * box_rows * box_columns * pixel_bytes(); }
    FUSEKIT_HD constexpr int stage_bytes() const { return (box_bytes() + 1023) / 1024 * 1024; }
    FUSEKIT_HD constexpr int y_bytes() const {
        return (images * rows * columns * phases * phases * pixel_bytes() + 1023) / 1024 * 1024;
    }
    /// Bytes of a filter of at least 16 channels, an odd number of 16-byte words: no bank conflicts; of the filters of
    /// a warp and of the CTA.
    FUSEKIT_HD constexpr unsigned weight_pitch() const { return static_cast<unsigned>(side * side * 2 * group + 16); }
    FUSEKIT_HD constexpr int warp_filter_bytes() const {
        return group < 16 ? 2 * side * 512 : filters_per_warp * static_cast<int>(weight_pitch());
    }
    FUSEKIT_HD constexpr int filter_bytes() const { return channels / filters_per_warp * warp_filter_bytes(); }
    /// MMAs of a pixel of each run, of all phases, and 8 filters; in small groups half of them have half of the
    /// arithmetic.
    FUSEKIT_HD constexpr int steps() const { return group < 16 ? 2 * side : side * side * group / 16; }
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
    /// true if weights of consecutive channels are aligned vectors: of 2 in groups of less than 16 channels, else of 8
    bool vectors = false;
    bool by_channels = false;  ///< true if SMEM has rows of the filters' weights of a channel (GroupedFragments)
};

namespace detail {

/// True if GroupedTmaConv computes a convolution, or a gradient by x: 3 x 3 taps, stride 1 or 2, groups of 4, 8, 16, 32
/// or 64 channels of x and as many of y.
FUSEKIT_H constexpr bool has_tma_groups(GroupedProblem const& of) {
    Filter<2> const& filter = of.spread.strides == PerMode<2>{1, 1} ? of.filter : of.spread;
    std::int64_t const channels = of.c / of.groups;
    return of.c == of.k && channels >= 4 && channels <= 64 && (channels & (channels - 1)) == 0 &&
           filter.size == PerMode<2>{3, 3} && filter.dilations == PerMode<2>{1, 1} &&
           filter.strides[0] == filter.strides[1] && filter.strides[0] <= 2;
}

/// Estimated cycles of the busiest SM. `of_channels`: CTAs with the same channels; `blocks`: blocks of channels.
FUSEKIT_H constexpr double tma_cycles_of(GroupedTmaTile const& tile, int stride, unsigned tiles, unsigned of_channels,
                                         unsigned blocks, unsigned resident, int processors) {
    using Costs = GroupedTmaTileCosts;
    // integers of 32 bits: the choice takes some hundred divisions on the host
    unsigned const items = (static_cast<unsigned>(tile.runs()) + 15) / 16 *
                           static_cast<unsigned>(tile.channels / GroupedTmaTile::filters_per_warp),
                   warps = static_cast<unsigned>(tile.warps), rounds = (tiles + of_channels - 1) / of_channels,
                   of_all = static_cast<unsigned>(processors), ctas = (of_channels * blocks + of_all - 1) / of_all;
    double const at_once = static_cast<double>(ctas < resident ? ctas : resident), steps = tile.steps(),
                 phases = tile.phases * tile.phases,
                 // of one warp, CTA after CTA; of all MMAs; of all bytes between L2 and SMEM
        chain = static_cast<double>((items + warps - 1) / warps) *
                    (Costs::step * steps * (stride == 1 ? 1 : Costs::strided_step) + Costs::item * phases) +
                Costs::tile + (tile.stages == 1 && rounds > 1 ? Costs::only_stage : 0),
                 multiply = at_once * static_cast<double>(items) * (Costs::mma_step * steps + Costs::mma_item * phases),
                 load = at_once * (tile.box_bytes() + tile.y_bytes()) / Costs::bytes,
                 more = chain > multiply ? chain : multiply, most = more > load ? more : load,
                 pipelined = tile.phases > 1 && tile.stages > 1
                                 ? (resident > 1 ? Costs::phased : 1) *
                                       (tile.columns <= 2 * GroupedTmaTile::run ? Costs::phased_narrow : 1)
                                 : 1,
                 round = pipelined * (Costs::overlapped * most + Costs::added * (chain + multiply + load)),
                 copies = tile.filter_bytes() / ((tile.group < 16 ? 4.0 : 16.0) * 32 * tile.warps);
    return Costs::launch + static_cast<double>((ctas + resident - 1) / resident) *
                               (static_cast<double>(rounds) * round + at_once * tile.box_bytes() / Costs::bytes +
                                Costs::filter_copy * copies);
}

/// Returns the better one of `best` and the fastest tile with the pixels and channels of `tile`.
FUSEKIT_H constexpr GroupedTmaChoice better_tma_tile(GroupedProblem const& of, std::int64_t all_tiles, int processors,
                                                     GroupedTmaTile tile, GroupedTmaChoice best) {
    if (all_tiles >= std::int64_t{1} << 31 || of.c >= 1 << 24) return best;
    unsigned const blocks = static_cast<unsigned>((static_cast<int>(of.c) + tile.channels - 1) / tile.channels),
                   tiles = static_cast<unsigned>(all_tiles);
    for (tile.warps = 4; tile.warps <= 8; tile.warps *= 2)
        for (tile.stages = 1; tile.stages <= GroupedTmaTile::max_stages; ++tile.stages) {
            if (tile.bytes() > GroupedTmaTile::max_shared_bytes) continue;
            int const fit = 227 * 1024 / (tile.bytes() + 2 * 1024), most = 16 / tile.warps,
                      resident = fit < most ? fit : most;
            unsigned const at_once = static_cast<unsigned>(processors * resident) / blocks,
                           of_channels = at_once > tiles ? tiles
                                         : at_once > 0   ? at_once
                                                         : 1;
            if (tile.stages > 1 && of_channels * static_cast<unsigned>(tile.stages - 1) >= tiles) continue;
            double const cycles = tma_cycles_of(tile, of.filter.strides[0], tiles, of_channels, blocks,
                                                static_cast<unsigned>(resident), processors);
            if (best.tile.rows == 0 || cycles < best.cycles) best = {tile, resident, cycles};
        }
    return best;
}

}  // namespace detail

/// Returns the fastest tile by an estimate. Precondition: has_tma_groups().
FUSEKIT_H constexpr GroupedTmaChoice choose_tma_tile(GroupedProblem const& of, int processors) {
    using Tile = GroupedTmaTile;
    GroupedTmaChoice best;
    int const stride = of.filter.strides[0];
    // so that the runs of a fragment of A, rows of the box apart, are in different banks
    auto const odd = [](std::int64_t columns) { return columns | 1; };
    std::int64_t const runs = detail::divide_up(of.q, std::int64_t{Tile::run});
    Tile tile;
    tile.group = static_cast<int>(of.c / of.groups);
    tile.phases = of.spread.strides[0];
    for (tile.channels = tile.group > 32 ? 64 : 32; tile.channels <= 64; tile.channels *= 2) {
        std::int64_t last_across = 0;
        for (std::int64_t const most_runs : {8, 4, 2}) {
            std::int64_t const across = detail::divide_up(runs, most_runs),
                               columns = detail::divide_up(runs, across) * Tile::run;
            if (across == last_across) continue;  // the same tiles
            last_across = across;
            std::int64_t last_down = 0;
            for (std::int64_t const most_rows : {16, 8, 7, 4, 2, 1}) {
                std::int64_t const down = detail::divide_up(of.p, most_rows), rows = detail::divide_up(of.p, down),
                                   box_rows = (rows - 1) * stride + of.filter.size[0],
                                   box_columns = odd((columns - 1) * stride + of.filter.size[1]);
                if (down == last_down || box_rows > Tile::box_limit || box_columns > Tile::box_limit) continue;
                last_down = down;
                tile.rows = static_cast<int>(rows), tile.columns = static_cast<int>(columns);
                tile.box_rows = static_cast<int>(box_rows), tile.box_columns = static_cast<int>(box_columns);
                int const most_images = across == 1 && down == 1 ? 8 : 1;
                for (tile.images = 1; tile.images <= most_images && tile.images <= of.n; tile.images *= 2)
                    best = detail::better_tma_tile(
                        of, detail::divide_up(of.n, std::int64_t{tile.images}) * down * across, processors, tile, best);
            }
        }
    }
    return best;
}

}  // namespace fusekit::hip
