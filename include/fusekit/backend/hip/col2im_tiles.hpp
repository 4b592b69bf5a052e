// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/tensor_map.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/layout.hpp"

namespace fusekit::hip {

/// Tile of Col2im: `rows` rows of 2^column_bits pixels of an image of y, and the box of x that their windows read. For
/// each pixel of the box, the product has a column for each tap and channel of y.
struct Col2imShape {
    static constexpr int threads = 256, max_channels = 8, max_box = 256, row_channels = 64, row_bytes = 128;
    static constexpr int shared_bytes = 108 * 1024;

    int rows = 0, column_bits = 0;  ///< rows is 0 if no tile fits SMEM
    int box_rows = 0, box_columns = 0;
    int k_steps = 0, k_blocks = 0;  ///< of 16 and of 64 channels of x
    int pairs = 0;  ///< of 8 columns of the product each: 16 columns

    FUSEKIT_HD constexpr int columns() const { return 1 << column_bits; }
    FUSEKIT_HD constexpr int box() const { return box_rows * box_columns; }
    FUSEKIT_HD constexpr int bytes_of_x() const { return box() * row_bytes; }
    /// Bytes from 64 channels of the box to the next.
    FUSEKIT_HD constexpr int block_bytes() const { return (bytes_of_x() + 1023) / 1024 * 1024; }
    FUSEKIT_HD constexpr int filter_bytes() const { return k_steps * pairs * 512; }
    FUSEKIT_HD constexpr int m_blocks() const { return (box() + 15) / 16; }
    /// Floats per column of the product in SMEM: the lanes of a fragment store to different banks.
    FUSEKIT_HD constexpr int pitch() const { return m_blocks() * 16 + 4; }
    FUSEKIT_HD constexpr int filters_at() const { return k_blocks * block_bytes(); }
    FUSEKIT_HD constexpr int product_at() const { return filters_at() + filter_bytes(); }
    FUSEKIT_HD constexpr int bytes() const { return product_at() + pairs * 16 * pitch() * 4; }
    FUSEKIT_HD constexpr int tiles_across(std::int64_t width) const {
        return static_cast<int>((width + columns() - 1) >> column_bits);
    }
    FUSEKIT_HD constexpr std::int64_t tiles_of_image(std::int64_t height, std::int64_t width) const {
        return (height + rows - 1) / rows * tiles_across(width);
    }

    /// Returns the shape with the fewest pixels of x per image in all boxes, for `channels` channels of x and a y whose
    /// filter has stride 1.
    FUSEKIT_H static constexpr Col2imShape of(std::int64_t channels, Index<4> const& y, Filter<2> const& filter) {
        Col2imShape best;
        std::int64_t least = 0;
        std::int64_t const sums = y[1] * filter.size[0] * filter.size[1];
        if (y[1] > max_channels || channels < 1 || channels > 16 * row_channels || sums > 512) return best;
        for (int bits = 3; bits <= 5; ++bits)
            for (int rows = 4; rows <= 32; rows += 4) {
                Col2imShape shape;
                shape.rows = rows, shape.column_bits = bits;
                shape.box_rows = rows + (filter.size[0] - 1) * filter.dilations[0];
                shape.box_columns = shape.columns() + (filter.size[1] - 1) * filter.dilations[1];
                if (shape.box_rows > max_box || shape.box_columns > max_box) continue;
                shape.k_steps = divide_up_32(static_cast<int>(channels), 16);
                shape.k_blocks = divide_up_32(static_cast<int>(channels), row_channels);
                shape.pairs = divide_up_32(static_cast<int>(sums), 16);
                if (shape.bytes() > shared_bytes) continue;
                std::int64_t const pixels = shape.tiles_of_image(y[2], y[3]) * shape.m_blocks();
                if (best.rows > 0 && pixels >= least) continue;
                best = shape, least = pixels;
            }
        return best;
    }
};

/// Kernel argument: the shape, the tiles of all images, and the tensor map of x.
struct Col2imTiles : Col2imShape {
    TensorMap x;  ///< (C, W, H, N), in boxes of box_rows x box_columns pixels and 64 channels
    bool in_use = false;
    unsigned all = 0;  ///< number of tiles
    FastDivmod of_image = {}, of_row = {}, blocks = {};  ///< tiles of an image and of a row; blocks of 16 rows of a box

    FUSEKIT_H void replace_memory(void const* of_x) { hip::replace_memory(x, of_x); }
    FUSEKIT_H constexpr void set(Col2imShape const& shape, Index<4> const& y) {
        static_cast<Col2imShape&>(*this) = shape;
        std::int64_t const in_image = shape.tiles_of_image(y[2], y[3]);
        of_image = FastDivmod(static_cast<std::uint32_t>(in_image));
        of_row = FastDivmod(static_cast<std::uint32_t>(shape.tiles_across(y[3])));
        blocks = FastDivmod(static_cast<std::uint32_t>(shape.m_blocks()));
        all = static_cast<unsigned>(y[0] * in_image);
    }
};

}  // namespace fusekit::hip
