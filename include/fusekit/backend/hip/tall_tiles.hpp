// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// Kernel argument: the tile of a TallGemm CTA, `rows` consecutive rows of x and y with all of their channels. A warp
/// multiplies 16 rows by up to 32 filters at a time.
struct TallTiles {
    /// warps of a CTA; rows and filters of a warp; indices of GemmK of an MMA instruction; bytes of a stage of x, of
    /// one of y, and of the filters
    static constexpr int warps = 8, warp_rows = 16, warp_filters = 32, step = 16, stage_bytes = 16 * 1024,
                         filter_bytes = 32 * 1024;
    static constexpr int max_channels = 256;

    int rows = 0;  ///< 0 if a tile exceeds shared memory
    std::uint32_t tiles = 0;

    /// Tiles of m rows of c channels, multiplied by k filters; elements of 2 bytes, and of y of `y_bytes`.
    FUSEKIT_H static constexpr TallTiles of(std::int64_t m, std::int64_t c, std::int64_t k, int y_bytes) {
        if (c > max_channels || k > max_channels || c < 1 || k < 1 || 2 * c * k > filter_bytes) return {};
        std::int64_t const of_x = stage_bytes / (2 * c), of_y = stage_bytes / (y_bytes * k);
        std::int64_t const most = (of_x < of_y ? of_x : of_y) / warp_rows;
        // the most rows of those that give the warps the most equal shares
        std::int64_t rows = 0;
        for (std::int64_t i = most < max_blocks ? most : max_blocks; i > 0; --i)
            if (rows == 0 || i * rounds(rows, k) > rows * rounds(i, k)) rows = i;
        if (rows == 0) return {};
        rows *= warp_rows;
        return {static_cast<int>(rows), static_cast<std::uint32_t>(detail::divide_up(m, rows))};
    }
    /// Blocks of 32 filters.
    FUSEKIT_H static constexpr std::int64_t blocks(std::int64_t k) { return detail::divide_up(k, warp_filters); }
    /// Steps of all warps of a CTA on a tile: 16 rows x 32 filters x 16 indices of GemmK each.
    FUSEKIT_H constexpr std::int64_t steps(std::int64_t c, std::int64_t k) const {
        return rows / warp_rows * blocks(k) * detail::divide_up(c, step);
    }

private:
    static constexpr int max_blocks = 16;

    /// Blocks of a warp with most of them, for `rows` blocks of rows.
    FUSEKIT_H static constexpr std::int64_t rounds(std::int64_t rows, std::int64_t k) {
        return detail::divide_up(rows * blocks(k), warps);
    }
};

}  // namespace fusekit::hip
