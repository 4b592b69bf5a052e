// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/grouped_gradient.hpp"
#include "fusekit/backend/hip/tuning/gradient_splits.hpp"

namespace fusekit::hip::detail {

/// A tiling of GroupedWeightGradient, the CTAs that divide a unit's items, and the estimated cycles of the kernel.
struct GroupedGradientChoice {
    GroupedGradientTiles tiles = {};
    GradientSplit split = {};
    double cycles = 0;
};

/// Returns the tiling and the split with the least estimated time; no items if no tiling fits SMEM. dy: extents N x K x
/// P x Q.
FUSEKIT_H inline GroupedGradientChoice choose_grouped_gradient(Filter<2> const& filter, Index<4> const& dy,
                                                               GradientSplitLimits const& limits) {
    using Tiles = GroupedGradientTiles;
    using Costs = GroupedGradientTileCosts;
    constexpr int channel_blocks = Tiles::unit / 8;
    std::int64_t const units = divide_up(dy[1], std::int64_t{Tiles::unit});
    GroupedGradientChoice best;
    std::int64_t last_columns = 0;
    for (std::int64_t const width : {64, 32, 16, 8}) {
        std::int64_t const columns = divide_up(dy[3], divide_up(dy[3], width)),
                           wide = (columns - 1) * filter.strides[1] +
                                  std::int64_t{filter.size[1] - 1} * filter.dilations[1] + 1;
        if (columns == last_columns) continue;
        last_columns = columns;
        std::int64_t last_rows = 0;
        for (std::int64_t const height : {32, 16, 8, 4, 2, 1}) {
            std::int64_t const rows = divide_up(dy[2], divide_up(dy[2], height)),
                               high = (rows - 1) * filter.strides[0] +
                                      std::int64_t{filter.size[0] - 1} * filter.dilations[0] + 1;
            if (rows == last_rows || high > 1024 || wide > 1024 || high * wide > 2048) continue;
            last_rows = rows;
            std::int64_t const most_images = rows == dy[2] && columns == dy[3] ? 8 : 1;
            for (std::int64_t images = 1; images <= most_images && images <= dy[0]; images *= 2) {
                Tiles tiles;
                auto const box = [&](std::int64_t h, std::int64_t w) {
                    return GroupedBox(static_cast<int>(images), static_cast<int>(h), static_cast<int>(w),
                                      channel_blocks, Tiles::threads);
                };
                tiles.x = box(high, wide), tiles.dy = box(rows, columns);
                if (tiles.bytes() > Tiles::max_shared_bytes) break;
                std::int64_t const across = divide_up(dy[3], columns), down = divide_up(dy[2], rows),
                                   items = divide_up(dy[0], images) * across * down;
                if (items >= std::int64_t{1} << 31) continue;
                auto const divisor = [](std::int64_t value) { return FastDivmod(static_cast<std::uint32_t>(value)); };
                tiles.column_tiles = divisor(across), tiles.row_tiles = divisor(down);
                tiles.columns = divisor(columns), tiles.rows = divisor(rows);
                tiles.items = static_cast<unsigned>(items), tiles.units = static_cast<unsigned>(units);
                for (std::int64_t resident = 1; resident <= Tiles::blocks; ++resident)
                    for_each_split(limits, units, items, resident, [&](GradientSplit const& split) {
                        double const load = Costs::load * static_cast<double>(split.resident) *
                                            static_cast<double>(tiles.x.tile.pixels() + tiles.dy.tile.pixels()),
                                     multiply = Costs::step * tiles.steps(), longer = load > multiply ? load : multiply,
                                     shorter = load > multiply ? multiply : load,
                                     rounds = static_cast<double>(divide_up(items, split.count())),
                                     cycles =
                                         static_cast<double>(split.waves) *
                                             (Costs::cta + rounds * (longer + Costs::exposed * shorter + Costs::item) +
                                              (1 - Costs::exposed) * shorter) +
                                         split.merge_cycles(limits.tile_bytes);
                        if (best.tiles.items == 0 || cycles < best.cycles) best = {tiles, split, cycles};
                    });
            }
        }
    }
    return best;
}

}  // namespace fusekit::hip::detail
