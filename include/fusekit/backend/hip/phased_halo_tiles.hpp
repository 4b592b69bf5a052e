// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/bulk_maps.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/tuning/tile_costs.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/layout.hpp"

namespace fusekit::hip {

/// Tiles of PhasedHalo. Position (p, q) of image n has the pixels of y at (p sh + i - origin.h, q sw + j - origin.w)
/// for the phases (i, j) of the strides; all of them read the window of taps.h x taps.w pixels of x from (p +
/// first.h, q + first.w) on. A tile has 128 positions, rows() rows of `pitch` positions; the last taps.w - 1 positions
/// of a row are not stored. Position m's tap (t, u) reads the pixel of the tile of x whose index is larger by
/// t pitch + u. GemmM is a block of (i, j, c), `rows_of_block` rows i of `width` consecutive indices j C + c.
struct PhasedHaloShape {
    static constexpr int positions = 128, most_columns = 64, row_bytes = 128, row_channels = 64, max_stages = 8;
    static constexpr int shared_bytes = 208 * 1024;  ///< for filters and stages

    PerMode<2> taps = {}, origin = {}, shift = {}, first = {};
    int pitch_bits = 5;
    int columns = 0;  ///< stored positions of a row of a tile
    int tiles_down = 0, tiles_across = 0;
    int channels = 0, k_tiles = 0;  ///< channels of x, and k-tiles of 64 of them
    int row_columns = 0, rows_of_block = 0, width = 0, parts = 0, blocks = 0;
    int stages = 0;  ///< 0 if SMEM has no room for two stages

    FUSEKIT_HD constexpr int pitch() const { return 1 << pitch_bits; }
    FUSEKIT_HD constexpr int rows() const { return positions >> pitch_bits; }
    FUSEKIT_HD constexpr int rows_of_x() const { return rows() + taps[0] - 1; }
    FUSEKIT_HD constexpr int bytes_of_x() const { return rows_of_x() * pitch() * row_bytes; }
    /// Bytes of a stage, with the pixels past the tile of x that the last tap's MMAs read.
    FUSEKIT_HD constexpr int stage_bytes() const {
        int const read = ((taps[0] - 1) * pitch() + taps[1] - 1 + positions) * row_bytes, loaded = bytes_of_x();
        return ((read > loaded ? read : loaded) + 1023) / 1024 * 1024;
    }
    /// Rows of a tap's filters in SMEM. An MMA reads 64 rows; those past the tap's are of later taps or the first
    /// stage, and their accumulators are not stored.
    FUSEKIT_HD constexpr int filter_rows() const { return (rows_of_block * width + 7) / 8 * 8; }
    FUSEKIT_HD constexpr int tap_bytes() const { return filter_rows() * row_bytes; }
    FUSEKIT_HD constexpr int filter_bytes() const {
        return (k_tiles * taps[0] * taps[1] * tap_bytes() + 1023) / 1024 * 1024;
    }
    /// K-blocks of a k-tile with channels of x.
    FUSEKIT_HD constexpr int k_blocks(int k_tile) const {
        int const remaining = channels - k_tile * row_channels;
        return ((remaining < row_channels ? remaining : row_channels) + 15) / 16;
    }
    /// Tiles of all images, for one block of columns.
    FUSEKIT_HD constexpr std::int64_t tiles(std::int64_t images) const { return images * tiles_down * tiles_across; }
    /// Cycles of a tile's MMAs.
    FUSEKIT_HD constexpr int mma_cycles() const {
        int all = 0;
        for (int i = 0; i < k_tiles; ++i) all += k_blocks(i);
        return all * taps[0] * taps[1] * positions / 2;
    }
};

namespace detail {

/// Sets taps, origin, shift and first in one mode. Phase i multiplies the a-th pixel from the end of its window by tap
/// i
/// - shift + a stride, if the filter has it. A shift puts phase 0 at pixel 0 of y; it is used unless the window grows.
FUSEKIT_H constexpr void set_mode_of_phases(PhasedHaloShape& to, Filter<2> const& of_y, int mode) {
    int const stride = of_y.strides[mode], pad = of_y.pad_before[mode], size = of_y.size[mode],
              aligning = (stride - pad % stride) % stride, most = (size - 1) / stride + 1,
              with_shift = (size - 1 + aligning) / stride + 1, shift = with_shift > most ? 0 : aligning;
    to.taps[mode] = most;
    to.shift[mode] = shift;
    to.origin[mode] = (pad + shift) % stride;
    to.first[mode] = (pad + shift) / stride - (most - 1);
}

/// Divides the columns (i, j, c) into blocks of at most `most` columns.
FUSEKIT_H constexpr void set_columns_of_phases(PhasedHaloShape& to, Filter<2> const& of_y, int filters, int most) {
    int const strides = of_y.strides[0];
    to.row_columns = of_y.strides[1] * filters;
    to.parts = divide_up_32(to.row_columns, most);
    to.width = to.parts == 1 ? to.row_columns : divide_up_32(divide_up_32(to.row_columns, to.parts), 8) * 8;
    int const fitting = to.parts == 1 ? most / to.row_columns : 1, rows = fitting < strides ? fitting : strides,
              groups = divide_up_32(strides, rows);
    to.rows_of_block = divide_up_32(strides, groups);
    to.blocks = divide_up_32(strides, to.rows_of_block) * to.parts;
}

}  // namespace detail

/// Tiles of the transposed convolution of x (N, K, H, W) to y (N, C, P, Q), whose transpose has the filter `of_y`:
/// those with the least time of MMAs or of TMA loads, whichever is longer. stages is 0 if none fits.
FUSEKIT_H constexpr PhasedHaloShape phased_halo_shape(Index<4> const& x, Index<4> const& y, Filter<2> const& of_y) {
    PhasedHaloShape best;
    std::int64_t least = 0;
    if (x[1] >= 1 << 16 || y[1] >= 1 << 16 || detail::has_no_elements(x) || detail::has_no_elements(y)) return best;
    // columns in a row of y and in all rows of a stride
    std::int64_t const row_columns = of_y.strides[1] * y[1];
    if (row_columns >= 1 << 20 || of_y.strides[0] * row_columns >= 1 << 30) return best;
    for (int most = PhasedHaloShape::most_columns; most >= 16 && best.stages == 0; most /= 2)
        for (int bits = 3; bits <= 7; ++bits) {
            PhasedHaloShape shape;
            for (int mode = 0; mode < 2; ++mode) detail::set_mode_of_phases(shape, of_y, mode);
            detail::set_columns_of_phases(shape, of_y, static_cast<int>(y[1]), most);
            shape.pitch_bits = bits;
            shape.columns = shape.pitch() - (shape.taps[1] - 1);
            if (shape.columns <= 0 || shape.rows_of_x() > 256) continue;
            auto const count = [&](int mode) {
                return (static_cast<int>(y[2 + mode]) - 1 + shape.origin[mode]) / of_y.strides[mode] + 1;
            };
            shape.tiles_down = divide_up_32(count(0), shape.rows());
            shape.tiles_across = divide_up_32(count(1), shape.columns);
            shape.channels = static_cast<int>(x[1]);
            shape.k_tiles = divide_up_32(shape.channels, PhasedHaloShape::row_channels);
            std::int64_t const filters =
                std::int64_t{shape.k_tiles} * shape.taps[0] * shape.taps[1] * shape.tap_bytes();
            if (filters > PhasedHaloShape::shared_bytes) continue;
            int const stages = (PhasedHaloShape::shared_bytes - shape.filter_bytes()) / shape.stage_bytes();
            if (stages < 2) continue;
            shape.stages = stages < PhasedHaloShape::max_stages ? stages : PhasedHaloShape::max_stages;
            std::int64_t const loads = std::int64_t{shape.k_tiles} * shape.bytes_of_x() / PhasedHaloTileCosts::bytes,
                               products = shape.mma_cycles(),
                               time = std::int64_t{shape.tiles_down} * shape.tiles_across *
                                      (loads > products ? loads : products);
            if (best.stages == 0 || time < least) best = shape, least = time;
        }
    return best;
}

/// Kernel argument: the tiles, their divisors, and the tensor map of x.
struct PhasedHaloTiles : PhasedHaloShape {
    TensorMap x;  ///< (K, W, H, N), in boxes of a tile of x of one image
    bool in_use = false;
    int vector = 1;  ///< columns that one store writes: consecutive elements of a row of y
    unsigned tiles_of_block = 0;
    FastDivmod by_across = {}, by_down = {}, by_blocks = {}, by_parts = {}, by_taps = {}, by_window = {};
    FastDivmod by_filter_rows = {}, by_width = {}, by_vectors = {}, by_channels = {};  ///< by_channels: channels of y

    FUSEKIT_H void replace_memory(void const* of_x) { hip::replace_memory(x, of_x); }
    /// `the_vector` divides the width of a block.
    FUSEKIT_H constexpr void set(PhasedHaloShape const& shape, std::int64_t images, std::int64_t filters,
                                 int the_vector) {
        static_cast<PhasedHaloShape&>(*this) = shape;
        vector = the_vector;
        auto const divisor = [](std::int64_t value) { return FastDivmod(static_cast<std::uint32_t>(value)); };
        tiles_of_block = static_cast<unsigned>(shape.tiles(images));
        by_across = divisor(tiles_across), by_down = divisor(tiles_down), by_blocks = divisor(blocks);
        by_parts = divisor(parts), by_taps = divisor(taps[0] * taps[1]), by_window = divisor(taps[1]);
        by_filter_rows = divisor(filter_rows()), by_width = divisor(width), by_vectors = divisor(width / vector);
        by_channels = divisor(filters);
    }
};

}  // namespace fusekit::hip
