// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/grouped_taps.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/tuning/tile_costs.hpp"
#include "fusekit/tensor/dtype.hpp"
#include "fusekit/tensor/filter.hpp"

namespace fusekit::hip {

/// Box of pixels that a CTA copies to SMEM, with layout [image][row][column][channel] and `pitch` bytes per pixel.
struct GroupedBox {
    struct Extents {
        int images = 1, halo_rows = 1, halo_columns = 1, pitch = 80;

        FUSEKIT_H constexpr std::int64_t pixels() const { return std::int64_t{images} * halo_rows * halo_columns; }
    };
    Extents tile = {};
    FastDivmod halo_blocks = {};  ///< vectors of 8 channels per pixel
    FastDivmod row_vectors = {};  ///< 16-byte vectors of a row of the box
    int row_step = 1;  ///< rows of the box that the threads copy in one pass

    FUSEKIT_H GroupedBox() = default;
    FUSEKIT_H GroupedBox(int images, int rows, int columns, int blocks, int threads)
        : tile{images, rows, columns, 16 * (blocks | 1)},
          halo_blocks(static_cast<std::uint32_t>(blocks)),
          row_vectors(static_cast<std::uint32_t>(columns * blocks)),
          row_step((max)(threads / (columns * blocks), 1)) {}
};

/// Kernel argument of GroupedWeightGradient. A CTA computes the weight gradient of a unit, 32 filters and the 32
/// channels of x that they read. It reduces items: tiles of dy (box `dy`) and the pixels of x that their windows read
/// (box `x`). Item indices run along columns fastest, then rows, then images.
struct GroupedGradientTiles {
    static constexpr int unit = 32, threads = 128, blocks = 2, stages = 2;
    static constexpr std::int64_t max_shared_bytes = 104 * 1024;

    GroupedBox x = {}, dy = {};
    FastDivmod column_tiles = {}, row_tiles = {};
    FastDivmod columns = {}, rows = {};  ///< divisors: columns and rows of an item's tile of dy
    FastDivmod group_channels = {};  ///< C / groups, which equals K / groups
    unsigned items = 0, units = 0;

    /// steps(): k-steps of 16 pixels per item. The next two: bytes of a stage, and of the SMEM before the stages, which
    /// has 16 zero bytes and a PixelEntry per pixel.
    FUSEKIT_HD int steps() const { return (dy.tile.images * dy.tile.halo_rows * dy.tile.halo_columns + 15) / 16; }
    FUSEKIT_HD int dy_bytes() const { return steps() * 16 * dy.tile.pitch; }
    FUSEKIT_HD int x_bytes() const { return x.tile.images * x.tile.halo_rows * x.tile.halo_columns * x.tile.pitch; }
    FUSEKIT_HD int stage_bytes() const { return dy_bytes() + x_bytes(); }
    FUSEKIT_HD int table_bytes() const { return 16 + steps() * 16 * 8; }
    FUSEKIT_HD int bytes() const { return table_bytes() + stages * stage_bytes(); }
};

namespace detail {

/// True if a plan's weight gradient has the kernel GroupedWeightGradient: for several groups, 16-bit elements, and
/// filters whose taps' accumulators all fit a warp's registers.
template <class Plan, class T>
FUSEKIT_H consteval bool has_grouped_gradient() {
    if constexpr (Plan::Head::collapsed_space != 2 || sizeof(T) != 2) return false;
    else {
        constexpr auto filter = Plan::Head::collapsed;
        return filter.group_count > 1 && filter.size[0] * filter.size[1] <= 25;
    }
}

/// Number of CTAs that divide a unit's items: whole clusters of 8, or fewer CTAs, so that all are resident at once.
FUSEKIT_H inline std::int64_t gradient_splits(std::int64_t units, int processors) {
    std::int64_t const splits = std::int64_t{processors} * GroupedGradientTiles::blocks / units;
    return splits > 8 ? splits / 8 * 8 : splits > 0 ? splits : 1;
}

/// Returns the tiling with the least estimated time; no items if none fits SMEM. dy: extents N x K x P x Q.
FUSEKIT_H inline GroupedGradientTiles choose_gradient_tiles(Filter<2> const& filter, Index<4> const& dy,
                                                            int processors) {
    using Tiles = GroupedGradientTiles;
    constexpr int blocks = Tiles::unit / 8;
    Tiles best;
    double least = 0;
    std::int64_t const units = divide_up(dy[1], std::int64_t{Tiles::unit}), splits = gradient_splits(units, processors);
    for (std::int64_t const width : {64, 32, 16, 8})
        for (std::int64_t const height : {32, 16, 8, 4, 2, 1}) {
            std::int64_t const columns = divide_up(dy[3], divide_up(dy[3], width)),
                               rows = divide_up(dy[2], divide_up(dy[2], height)),
                               high = (rows - 1) * filter.strides[0] +
                                      std::int64_t{filter.size[0] - 1} * filter.dilations[0] + 1,
                               wide = (columns - 1) * filter.strides[1] +
                                      std::int64_t{filter.size[1] - 1} * filter.dilations[1] + 1;
            if (high > 1024 || wide > 1024 || high * wide > 2048) continue;
            std::int64_t const most_images = rows == dy[2] && columns == dy[3] ? 8 : 1;
            for (std::int64_t images = 1; images <= most_images && images <= dy[0]; images *= 2) {
                Tiles tiles;
                auto const box = [&](std::int64_t h, std::int64_t w) {
                    return GroupedBox(static_cast<int>(images), static_cast<int>(h), static_cast<int>(w), blocks,
                                      Tiles::threads);
                };
                tiles.x = box(high, wide), tiles.dy = box(rows, columns);
                if (tiles.bytes() > Tiles::max_shared_bytes) break;
                std::int64_t const across = divide_up(dy[3], columns), down = divide_up(dy[2], rows),
                                   items = divide_up(dy[0], images) * across * down;
                if (items >= std::int64_t{1} << 31) continue;
                using Costs = GroupedGradientTileCosts;
                double const load = Costs::load * static_cast<double>(tiles.x.tile.pixels() + tiles.dy.tile.pixels()),
                             multiply = Costs::step * tiles.steps(), longer = load > multiply ? load : multiply,
                             cycles = static_cast<double>(divide_up(items, splits)) * (longer + Costs::item) + load;
                if (best.items != 0 && cycles >= least) continue;
                auto const divisor = [](std::int64_t value) { return FastDivmod(static_cast<std::uint32_t>(value)); };
                tiles.column_tiles = divisor(across), tiles.row_tiles = divisor(down);
                tiles.columns = divisor(columns), tiles.rows = divisor(rows);
                tiles.items = static_cast<unsigned>(items), tiles.units = static_cast<unsigned>(units);
                best = tiles, least = cycles;
            }
        }
    return best;
}

}  // namespace detail

}  // namespace fusekit::hip
