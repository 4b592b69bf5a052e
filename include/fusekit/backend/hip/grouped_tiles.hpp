// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/grouped_taps.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/tensor/filter.hpp"

namespace fusekit::hip {

/// Extents and filter of a grouped convolution, from which its tile is chosen.
struct GroupedProblem {
    std::int64_t n, c, k, groups;
    std::int64_t p, q;  ///< rows and columns of y, of each phase
    Filter<2> filter;  ///< grouped_window()
    Filter<2> spread = {{1, 1}, {}, {}, {1, 1}, {1, 1}, 1};  ///< of a transposed convolution with strides: of_y()

    FUSEKIT_H constexpr int steps(int channel_blocks) const {
        detail::TransposedFilter<2, true> const f(spread);
        PerMode<2> const phases = grouped_phases(f);
        if (phases == PerMode<2>{1, 1}) return grouped_steps(grouped_phase(filter, {}), channel_blocks);
        int steps = 0;
        for (int a = 0; a < phases.h; ++a)
            for (int b = 0; b < phases.w; ++b) steps += grouped_steps(grouped_phase(f, {a, b}), channel_blocks);
        return steps;
    }
};

/// Problem of a convolution or transposed convolution of x to y.
template <class Geometry>
FUSEKIT_H constexpr GroupedProblem grouped_problem(Index<4> const& x, Index<4> const& y, Geometry const& geometry) {
    PerMode<2> const phases = grouped_phases(geometry);
    GroupedProblem problem{x[0],
                           x[1],
                           y[1],
                           geometry.group_count,
                           detail::divide_up(y[2], std::int64_t{phases.h}),
                           detail::divide_up(y[3], std::int64_t{phases.w}),
                           grouped_window(geometry)};
    if constexpr (detail::spreads<Geometry>) problem.spread = geometry.of_y();
    return problem;
}

/// Tile of a Grouped kernel. A CTA computes `rows` x `columns` pixels of y in each of `images` images, for 32 * `units`
/// filters, and stages the pixels of x that their windows read (the halo) in SMEM. An MMA multiplies 16 pixels by 8
/// filters (an N-block). Its GemmK of 16 is two pairs of a tap and a block of 8 channels of x.
struct GroupedTile {
    /// strip: rows of y that a warp computes together, at 16 columns; a fragment of operand a has these columns of one
    /// row
    static constexpr int strip = 4, unit = 32, max_shared_bytes = 96 * 1024, max_images = 8;

    int images;  ///< 1 if the tile is not a whole image
    int rows, columns;
    int halo_rows, halo_columns;  ///< of one image
    int units;  ///< groups of 32 filters per CTA: 1 or 2
    int loads;  ///< different channel blocks that the four N-blocks of 32 filters read: loads of operand a per step
    int share;  ///< consecutive N-blocks (1, 2 or 4) that read the same channels of x, and so share a fragment of
                ///< operand a
    int channel_blocks;  ///< blocks of 8 channels of x per N-block
    int halo_blocks;  ///< blocks of 8 channels of x per CTA
    int steps;  ///< MMAs per N-block of 16 pixels, of all phases
    int pitch;  ///< bytes from one pixel of the halo to the next
    bool isolated;  ///< true if no N-block reads channels of another group than its filters'
    /// true if a warp loads each row of x from SMEM once per strip and reuses it for the three rows of y whose windows
    /// contain it: 3 x 3 filters with row stride 1, and one block of channels per N-block
    bool slides;

    FUSEKIT_H constexpr std::int64_t strip_columns() const { return std::int64_t{images} * (rows / strip) * columns; }
    FUSEKIT_H constexpr std::int64_t filter_bytes() const { return std::int64_t{units} * 4 * steps * 256; }
    FUSEKIT_H constexpr std::int64_t offset_bytes() const { return detail::divide_up(steps, 2) * 16; }
    FUSEKIT_H constexpr std::int64_t halo_bytes() const {
        return std::int64_t{images} * halo_rows * halo_columns * pitch;
    }
    FUSEKIT_H constexpr std::int64_t bytes() const { return filter_bytes() + offset_bytes() + halo_bytes(); }
};

/// A tile, and its estimated cycles on the busiest SM; tile.rows is 0 if no tile fits SMEM.
struct GroupedChoice {
    GroupedTile tile;
    double cycles;
};

namespace detail {

/// Largest number of blocks of 8 channels of x that `count` consecutive filters, from a multiple of `count` on, read.
/// Blocks start at multiples of 8.
FUSEKIT_H constexpr int most_channel_blocks(GroupedProblem const& of, std::int64_t count) {
    std::int64_t const filters = of.k / of.groups, channels = of.c / of.groups;
    if (channels % 8 == 0 && filters % count == 0) return static_cast<int>(channels / 8);
    if (channels % 8 == 0 && count % filters == 0) return static_cast<int>(count / filters * channels / 8);
    std::int64_t most = 1;
    for (std::int64_t k = 0; k < of.k; k += count) {
        std::int64_t const last = (k + count < of.k ? k + count : of.k) - 1,
                           blocks = divide_up((last / filters + 1) * channels, 8) - k / filters * channels / 8;
        if (blocks > most) most = blocks;
    }
    return static_cast<int>(most);
}

/// Largest number, 1, 2 or 4, of consecutive N-blocks (8 filters each) whose channels of x always begin at the same
/// block.
FUSEKIT_H constexpr int shared_blocks(GroupedProblem const& of) {
    std::int64_t const filters = of.k / of.groups, channels = of.c / of.groups;
    if (filters % 32 == 0) return 4;
    int share = 4;
    for (std::int64_t k = 8; k < of.k && share > 1; k += 8)
        while (k % (8 * share) != 0 && k / filters * channels / 8 != (k - 8) / filters * channels / 8) share /= 2;
    return share;
}

/// Estimated cycles of one CTA of 4 warps: global loads of x and the weights, and SMEM reads of the MMAs' operands.
FUSEKIT_H constexpr double cycles_of(GroupedTile const& tile) {
    // cycles per MMA: reading a fragment of operand a takes 4 for each row of a strip, of b 2 for all 4 rows
    double const per_mma = tile.slides ? 2.3 : tile.loads + 0.5,
                 warps = static_cast<double>(divide_up(divide_up(tile.strip_columns(), 16) * tile.units, 4) * 4),
                 multiply = warps * 4 * GroupedTile::strip * tile.steps * per_mma,
                 load = 0.4 * tile.images * tile.halo_rows * tile.halo_columns * tile.halo_blocks,
                 filters = 8.0 * tile.units * tile.steps;
    return (load > multiply ? load + multiply / 4 : multiply + load / 4) + filters + 100;
}

/// Returns the faster, by cycles_of(), of `best` and the best extents of y for a tile with the filters and channels of
/// `tile`.
FUSEKIT_H constexpr GroupedChoice better_tile(GroupedProblem const& of, int processors, GroupedTile tile,
                                              GroupedChoice best) {
    Filter<2> const& filter = of.filter;
    constexpr std::int64_t most_bytes = GroupedTile::max_shared_bytes, strip = GroupedTile::strip;
    std::int64_t const strips = divide_up(of.p, strip),
                       filter_blocks = divide_up(of.k, std::int64_t{tile.units} * GroupedTile::unit);
    for (std::int64_t const width : {64, 32, 16, 8})
        for (std::int64_t const height : {4, 8, 16}) {
            std::int64_t const columns = divide_up(of.q, divide_up(of.q, width)),
                               rows = divide_up(strips, divide_up(strips, height / strip)) * strip,
                               high = (rows - 1) * filter.strides[0] +
                                      std::int64_t{filter.size[0] - 1} * filter.dilations[0] + 1,
                               wide = (columns - 1) * filter.strides[1] +
                                      std::int64_t{filter.size[1] - 1} * filter.dilations[1] + 1;
            if (high > most_bytes || wide > most_bytes) continue;
            tile.rows = static_cast<int>(rows), tile.columns = static_cast<int>(columns);
            tile.halo_rows = static_cast<int>(high), tile.halo_columns = static_cast<int>(wide);
            int const most_images = rows >= of.p && columns == of.q ? GroupedTile::max_images : 1;
            for (tile.images = 1; tile.images <= most_images && tile.images <= of.n; tile.images *= 2) {
                std::int64_t const bytes = tile.bytes();
                if (bytes > most_bytes) break;
                std::int64_t const ctas = divide_up(of.n, std::int64_t{tile.images}) * divide_up(of.p, rows) *
                                          divide_up(of.q, columns) * filter_blocks;
                double const cycles = cycles_of(tile),
                             resident = bytes > 74 * 1024 ? 2 : 3,  // CTAs per SM, which hide each other's latencies
                    total = static_cast<double>(divide_up(ctas, processors)) * cycles * (1 + 0.5 / resident) + 1000 +
                            cycles;
                if (best.tile.rows == 0 || total < best.cycles) best = {tile, total};
            }
        }
    return best;
}

}  // namespace detail

/// Returns the fastest tile by an estimate. Preconditions: C and K are multiples of 8, C / groups and K / groups of 2.
FUSEKIT_H constexpr GroupedChoice choose_grouped_tile(GroupedProblem const& of, int processors) {
    std::int64_t const filters = of.k / of.groups, channels = of.c / of.groups;
    Filter<2> const& filter = of.filter;
    GroupedTile tile{};
    GroupedChoice best{tile, 0};
    constexpr std::int64_t most_pairs = GroupedTile::max_shared_bytes / 512;
    if (std::int64_t{filter.size[0]} * filter.size[1] * channels > 8 * most_pairs) return best;
    tile.isolated = filters % 8 == 0 && channels % 8 == 0;
    tile.share = detail::shared_blocks(of), tile.loads = GroupedTile::unit / 8 / tile.share;
    tile.channel_blocks = detail::most_channel_blocks(of, 8);
    tile.steps = of.steps(tile.channel_blocks);
    tile.slides = of.spread.strides == PerMode<2>{1, 1} && tile.channel_blocks == 1 && tile.loads > 1 &&
                  filter.size == PerMode<2>{3, 3} && filter.strides[0] == 1 && filter.dilations[0] == 1;
    for (tile.units = filters % 64 == 0 ? 2 : 1; tile.units > 0; --tile.units) {
        tile.halo_blocks = detail::most_channel_blocks(of, std::int64_t{tile.units} * GroupedTile::unit);
        tile.pitch = 16 * (tile.halo_blocks | 1);  // an odd number of 16-byte vectors: no bank conflicts at stride 1
        best = detail::better_tile(of, processors, tile, best);
    }
    return best;
}

/// Kernel argument of Grouped: the tile, and divisors from which a CTA computes its tile's coordinate and a thread its
/// copies. CTA indices run along filters fastest, then along columns, rows and images.
struct GroupedTiles {
    GroupedTile tile = {};
    FastDivmod filter_blocks = {}, tiles_across = {}, tiles_down = {};
    FastDivmod columns = {}, strips = {};  ///< of a tile of one image
    FastDivmod halo_blocks = {};
    FastDivmod row_vectors = {};  ///< 16-byte vectors of a row of the halo
    int row_step = 1;  ///< rows of the halo that the threads of a CTA copy at once
    FastDivmod halo_columns = {};
    bool x_planes = false, y_planes = false;  ///< true if channels are not contiguous, as in NCHW
    FastDivmod channel_blocks = {}, filter_columns = {};
    FastDivmod group_filters = {};  ///< K / groups
    int group_channels = 0;  ///< C / groups
    bool paired_weights = false;  ///< true if two weights of consecutive channels are one aligned word
};

}  // namespace fusekit::hip
