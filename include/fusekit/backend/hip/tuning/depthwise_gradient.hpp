// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/depthwise_gradient.hpp"
#include "fusekit/backend/hip/tuning/gradient_splits.hpp"

namespace fusekit::hip::detail {

/// A tiling of DepthwiseHaloWeightGradient, the CTAs that divide a unit's items, and the estimated cycles of the
/// kernel.
struct DepthwiseHaloGradientChoice {
    DepthwiseHaloGradientTiles tiles = {};
    GradientSplit split = {};
    double cycles = 0;

    /// SMEM of a CTA: one stage if each CTA has one item.
    FUSEKIT_H int shared_bytes() const { return (split.count() < tiles.items ? 2 : 1) * tiles.stage_bytes(); }
};

/// Tiles of `images` images and `rows` x `columns` pixels of dy, extents N x K x P x Q; no items if they exceed SMEM.
template <class Shape>
FUSEKIT_H DepthwiseHaloGradientTiles halo_gradient_tiles(Filter<2> const& filter, Index<4> const& dy,
                                                         std::int64_t images, std::int64_t rows, std::int64_t columns,
                                                         int vector_bytes = 16) {
    using Tiles = DepthwiseHaloGradientTiles;
    constexpr int pixel = Tiles::pixel_bytes;
    int const at_once = Shape::threads * vector_bytes / pixel;
    auto const divisor = [](std::int64_t value) { return FastDivmod(static_cast<std::uint32_t>(value)); };
    std::int64_t const wide = (columns - 1) * filter.strides[1] + filter.size[1],
                       high =
                           (rows - 1) * filter.strides[0] + std::int64_t{filter.size[0] - 1} * filter.dilations[0] + 1,
                       across = divide_up(dy[3], columns), down = divide_up(dy[2], rows),
                       items = divide_up(dy[0], images) * across * down;
    Tiles tiles;
    tiles.vector_bytes = vector_bytes;
    if (high > 512 || wide > 512 || items >= std::int64_t{1} << 31) return {};
    auto const odd = [](std::int64_t count) { return static_cast<int>((count | 1) * pixel); };
    // Half warps are filter.strides[0] rows of x apart: an odd multiple of 64 bytes.
    int const stride = filter.strides[0];
    tiles.of_x = {static_cast<int>(high), static_cast<int>(wide),
                  stride % 2 == 1 ? odd(wide) : static_cast<int>(wide) * pixel + pixel / stride, at_once};
    tiles.of_dy = {static_cast<int>(rows), static_cast<int>(columns), odd(columns), at_once};
    tiles.images = static_cast<int>(images), tiles.rows = static_cast<int>(rows);
    tiles.columns = static_cast<int>(columns);
    if (tiles.stage_bytes() > Tiles::max_shared_bytes) return {};
    tiles.column_tiles = divisor(across), tiles.row_tiles = divisor(down);
    tiles.lines = divisor(images * rows), tiles.image_rows = divisor(rows);
    tiles.items = static_cast<unsigned>(items);
    tiles.units = static_cast<unsigned>(divide_up(dy[1], std::int64_t{Tiles::unit}));
    return tiles;
}

/// Divides each row of an item into the number of segments with the least estimated time; returns the instructions of
/// one warp.
template <class Shape>
FUSEKIT_H double choose_segments(DepthwiseHaloGradientTiles& tiles, Filter<2> const& filter) {
    constexpr int shares = 2 * Shape::row_groups, rows = Shape::thread_rows;
    int const lines = tiles.images * tiles.rows, S = filter.size[1], stride = filter.strides[1];
    double least = 0;
    for (int across = 1; across <= 8 && (across == 1 || tiles.columns / across >= 3); across *= 2) {
        int const segment = static_cast<int>(divide_up(tiles.columns, across));
        double const column = 3 + rows * (3 * stride + 2 * S), start = 40 + 3 * rows * (S - stride),
                     instructions = static_cast<double>(divide_up(lines * across, shares)) * (segment * column + start);
        if (across > 1 && instructions >= least) continue;
        least = instructions;
        tiles.segment = segment, tiles.segments = lines * across;
    }
    return least;
}

/// Returns the tiling and the split with the least estimated time; no items if no tiling fits SMEM. dy: extents N x K x
/// P x Q. vector_bytes: DepthwiseHaloGradientTiles::vector_bytes.
template <class Shape>
FUSEKIT_H DepthwiseHaloGradientChoice choose_halo_gradient(Filter<2> const& filter, Index<4> const& dy,
                                                           int vector_bytes, GradientSplitLimits const& limits) {
    using Costs = DepthwiseGradientTileCosts;
    constexpr int warps = Shape::threads / 32;
    DepthwiseHaloGradientChoice best, choice;
    auto const compare = [&](std::int64_t blocks, double instructions, double bytes) {
        return [&, blocks, instructions, bytes](GradientSplit const& split) {
            choice.split = split;
            if (choice.shared_bytes() > DepthwiseHaloGradientTiles::max_shared_bytes ||
                choice.shared_bytes() + 1024 > Costs::shared_bytes / blocks)
                return;
            auto const resident = static_cast<double>(split.resident);
            double const load = resident * bytes / Costs::bytes, issue = resident * instructions / Costs::issue,
                         alone = instructions / warps * Costs::alone, multiply = issue > alone ? issue : alone,
                         rounds = static_cast<double>(divide_up(std::int64_t{choice.tiles.items}, split.count())),
                         longer = load > multiply ? load : multiply, shorter = load > multiply ? multiply : load;
            choice.cycles =
                static_cast<double>(split.waves) *
                    (Costs::cta + rounds * (longer + Costs::exposed * shorter) + (1 - Costs::exposed) * shorter) +
                split.merge_cycles(limits.tile_bytes);
            if (best.tiles.items == 0 || choice.cycles < best.cycles) best = choice;
        };
    };
    std::int64_t last_columns = 0;
    for (std::int64_t const width : {64, 32, 16, 8, 4}) {
        std::int64_t const columns = divide_up(dy[3], divide_up(dy[3], width));
        if (columns == last_columns) continue;
        last_columns = columns;
        std::int64_t last_rows = 0;
        for (std::int64_t const height : {32, 16, 8, 4, 2}) {
            std::int64_t const rows = divide_up(dy[2], divide_up(dy[2], height));
            if (rows == last_rows) continue;
            last_rows = rows;
            std::int64_t const most_images = rows == dy[2] && columns == dy[3] && rows * columns < 200 ? 8 : 1;
            for (std::int64_t images = 1; images <= most_images && images <= dy[0]; images *= 2) {
                choice.tiles = halo_gradient_tiles<Shape>(filter, dy, images, rows, columns, vector_bytes);
                if (choice.tiles.items == 0) break;
                double const of_warp = choose_segments<Shape>(choice.tiles, filter),
                             pixels = static_cast<double>(images * (choice.tiles.of_x.pixels + rows * columns)),
                             instructions = warps * (of_warp + Costs::item) + Costs::copy / vector_bytes * pixels;
                for (std::int64_t blocks = 1; blocks <= Shape::blocks; ++blocks)
                    for_each_split(limits, choice.tiles.units, choice.tiles.items, blocks,
                                   compare(blocks, instructions, DepthwiseHaloGradientTiles::pixel_bytes * pixels));
            }
        }
    }
    return best;
}

}  // namespace fusekit::hip::detail
