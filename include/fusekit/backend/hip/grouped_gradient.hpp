// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/grouped_taps.hpp"
#include "fusekit/backend/hip/integer.hpp"
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

}  // namespace detail

}  // namespace fusekit::hip
