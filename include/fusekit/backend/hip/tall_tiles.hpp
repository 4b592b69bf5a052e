// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/integer.hpp"

namespace fusekit::hip {

/// Kernel argument: the tile of a TallGemm CTA, `rows` consecutive rows of x and y with all of their channels. A warp
/// multiplies 16 rows by up to 32 filters at a time.
struct TallTiles {
    /// rows and filters of a warp; indices of GemmK of an MMA instruction; bytes of a stage of x, of one of y, and of
    /// the filters
    static constexpr int warp_rows = 16, warp_filters = 32, step = 16, stage_bytes = 16 * 1024,
                         filter_bytes = 32 * 1024;
    static constexpr int max_channels = 256;

    int rows = 0;  ///< 0 if a tile exceeds shared memory
    std::uint32_t tiles = 0;

    /// Tiles of m rows of c channels, multiplied by k filters; elements of 2 bytes, and of y of `y_bytes`.
    FUSEKIT_H static constexpr TallTiles of(std::int64_t m, std::int64_t c, std::int64_t k, int y_bytes) {
        if (c > max_channels || k > max_channels || c < 1 || k < 1 || 2 * c * k > filter_bytes) return {};
        std::int64_t const of_x = stage_bytes / (2 * c), of_y = stage_bytes / (y_bytes * k);
        std::int64_t rows = (of_x < of_y ? of_x : of_y) / warp_rows * warp_rows;
        if (rows > max_rows) rows = max_rows;
        if (rows == 0) return {};
        return {static_cast<int>(rows), static_cast<std::uint32_t>(detail::divide_up(m, rows))};
    }
    /// Steps of all warps of a CTA on a tile: 16 rows x 32 filters x 16 indices of GemmK each.
    FUSEKIT_H constexpr std::int64_t steps(std::int64_t c, std::int64_t k) const {
        return rows / warp_rows * detail::divide_up(k, warp_filters) * detail::divide_up(c, step);
    }

private:
    static constexpr int max_rows = 256;
};

}  // namespace fusekit::hip
