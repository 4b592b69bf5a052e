// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// Kernel argument: the tile of a TallGemm CTA, `rows` consecutive rows of x and y with all of their channels. A warp
/// multiplies 16 rows by up to 32 filters at a time. SMEM has, in this order, the filters, two stages of x and two of
/// y.
struct TallTiles {
    /// warps of a CTA; rows and filters of a warp; indices of GemmK of an MMA instruction; bytes of SMEM for filters
    /// and stages, and for the filters alone; stages of x and of y
    static constexpr int warps = 8, warp_rows = 16, warp_filters = 32, step = 16, shared_bytes = 104 * 1024,
                         filter_bytes = 32 * 1024, stages = 2;
    static constexpr int max_channels = 256;

    int rows = 0;  ///< 0 if a tile exceeds shared memory
    std::uint32_t tiles = 0;
    int x_stage = 0, y_stage = 0;  ///< bytes of a stage of x and of y
    int filter_vector = 1;  ///< elements per load of a TransposedConv's weights, 1 to 8

    /// Elements from a filter of c channels to the next in SMEM: filters that threads transpose have an odd multiple of
    /// 32 bytes, so that a warp loads them without bank conflicts.
    FUSEKIT_HD static constexpr int filter_pitch(std::int64_t c, bool transposed) {
        return static_cast<int>(transposed ? ((c + step - 1) / step | 1) * step : c);
    }
    /// Tiles of m rows of c channels, multiplied by k filters; elements of 2 bytes, and of y of `y_bytes`.
    FUSEKIT_H static constexpr TallTiles of(std::int64_t m, std::int64_t c, std::int64_t k, int y_bytes,
                                            bool transposed = false) {
        if (c > max_channels || k > max_channels || c < 1 || k < 1 || 2 * c * k > filter_bytes) return {};
        // at most enough rows for about 256 tiles
        std::int64_t const most = m / (256 * warp_rows) < 2 ? 2 : m / (256 * warp_rows);
        // the most rows of those that give the warps the most equal shares
        TallTiles best;
        for (std::int64_t i = most < max_blocks ? most : max_blocks; i > 0; --i) {
            TallTiles const tile(i * warp_rows, c, k, y_bytes);
            std::int64_t const others = best.rows / warp_rows;
            if (stage_of(2 * filter_pitch(c, transposed) * k) + stages * (std::int64_t{tile.x_stage} + tile.y_stage) >
                shared_bytes)
                continue;
            if (best.rows == 0 || i * rounds(others, k) > others * rounds(i, k)) best = tile;
        }
        if (best.rows > 0) best.tiles = static_cast<std::uint32_t>(detail::divide_up(m, best.rows));
        return best;
    }
    /// Bytes of SMEM from the start of a stage of `bytes` bytes to that of the next.
    FUSEKIT_HD static constexpr std::int64_t stage_of(std::int64_t bytes) { return (bytes + 127) / 128 * 128; }

    FUSEKIT_H constexpr TallTiles() = default;
    /// Blocks of 32 filters.
    FUSEKIT_H static constexpr std::int64_t blocks(std::int64_t k) { return detail::divide_up(k, warp_filters); }
    /// Steps of all warps of a CTA on a tile: 16 rows x 32 filters x 16 indices of GemmK each.
    FUSEKIT_H constexpr std::int64_t steps(std::int64_t c, std::int64_t k) const {
        return rows / warp_rows * blocks(k) * detail::divide_up(c, step);
    }

private:
    static constexpr int max_blocks = 16;

    FUSEKIT_H constexpr TallTiles(std::int64_t the_rows, std::int64_t c, std::int64_t k, int y_bytes)
        : rows(static_cast<int>(the_rows)),
          x_stage(static_cast<int>(stage_of(2 * the_rows * c))),
          y_stage(static_cast<int>(stage_of(y_bytes * the_rows * k))) {}

    /// Blocks of a warp with most of them, for `rows` blocks of rows.
    FUSEKIT_H static constexpr std::int64_t rounds(std::int64_t rows, std::int64_t k) {
        return detail::divide_up(rows * blocks(k), warps);
    }
};

}  // namespace fusekit::hip
