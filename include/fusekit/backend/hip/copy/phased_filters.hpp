// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/phased_halo_tiles.hpp"

namespace fusekit::hip {

/// Columns (i, j, c) of PhasedHalo's GemmM that a CTA computes: rows i from `row` on, indices j C + c from `column` on.
struct PhasedColumns {
    int row, column, rows, width;

    __device__ PhasedColumns(PhasedHaloTiles const& tiles, unsigned block, int stride) {
        unsigned const group = tiles.by_parts.divide(block);
        row = static_cast<int>(group) * tiles.rows_of_block;
        column = static_cast<int>(block - group * tiles.by_parts.value()) * tiles.width;
        rows = (min)(tiles.rows_of_block, stride - row);
        width = (min)(tiles.width, tiles.row_columns - column);
    }
};

/// Copies the filters of a block of columns to SMEM, as swizzled rows of 64 channels of x: for each k-tile and each tap
/// of the window, filter_rows() rows. Taps that a phase lacks, and rows and channels past the last, are zero.
template <class T>
class PhasedFilters {
public:
    /// `w`: (C, K, R, S). Threads 0 to `threads` - 1 call copy().
    __device__ PhasedFilters(PhasedHaloTiles const& the_tiles, TensorView<T const> const& the_w,
                             Filter<2> const& the_filter, PhasedColumns const& the_columns)
        : tiles(the_tiles), w(the_w), of_y(the_filter), columns(the_columns) {}

    __device__ void copy(unsigned char* to, unsigned thread, unsigned threads) const {
        constexpr int at_once = 8;
        unsigned const rows = tiles.by_filter_rows.value(), taps = tiles.by_taps.value(),
                       all = rows * taps * static_cast<unsigned>(tiles.k_tiles) * 32;
#pragma unroll 1
        for (unsigned first = thread; first < all; first += at_once * threads) {
            std::uint32_t pairs[at_once];
#pragma unroll
            for (unsigned i = 0; i < at_once; ++i) {
                unsigned const index = first + i * threads;
                if (index < all) pairs[i] = pair(Position(tiles, index));
            }
#pragma unroll
            for (unsigned i = 0; i < at_once; ++i) {
                unsigned const index = first + i * threads;
                if (index >= all) break;
                Position const at(tiles, index);
                unsigned const line = (at.pair / 32 * taps + at.tap) * rows + at.row,
                               byte = at.pair % 32 * 4 ^ line % 8 * 16;
                *reinterpret_cast<std::uint32_t*>(to + line * PhasedHaloShape::row_bytes + byte) = pairs[i];
            }
        }
    }

private:
    /// Row (column of GemmM), tap of the window and pair of channels of x. Rows are fastest: they are contiguous in w.
    struct Position {
        unsigned row, tap, pair;

        __device__ Position(PhasedHaloTiles const& tiles, unsigned index) {
            unsigned const rest = tiles.by_filter_rows.divide(index);
            row = index - rest * tiles.by_filter_rows.value();
            pair = tiles.by_taps.divide(rest);
            tap = rest - pair * tiles.by_taps.value();
        }
    };

    __device__ std::uint32_t pair(Position const& at) const {
        int const k = static_cast<int>(at.pair) * 2, row = static_cast<int>(tiles.by_width.divide(at.row)),
                  in_row = static_cast<int>(at.row) - row * tiles.width, column = columns.column + in_row,
                  j = static_cast<int>(tiles.by_channels.divide(static_cast<unsigned>(column))),
                  c = column - j * static_cast<int>(tiles.by_channels.value()),
                  t = static_cast<int>(tiles.by_window.divide(at.tap)),
                  u = static_cast<int>(at.tap) - t * tiles.taps[1],
                  r = columns.row + row - tiles.shift[0] + (tiles.taps[0] - 1 - t) * of_y.strides[0],
                  s = j - tiles.shift[1] + (tiles.taps[1] - 1 - u) * of_y.strides[1];
        bool const exists = row < columns.rows && in_row < columns.width &&
                            static_cast<unsigned>(r) < static_cast<unsigned>(of_y.size[0]) &&
                            static_cast<unsigned>(s) < static_cast<unsigned>(of_y.size[1]);
        Index<4> const& stride = w.layout.stride;
        std::int64_t const offset = c * stride[0] + k * stride[1] + r * stride[2] + s * stride[3];
        auto const bits = [&](int i) {
            return exists && k + i < tiles.channels
                       ? std::uint32_t{config::bit_cast<std::uint16_t>(w.data[offset + i * stride[1]])}
                       : 0u;
        };
        return bits(0) | bits(1) << 16;
    }

    PhasedHaloTiles const& tiles;
    TensorView<T const> const& w;
    Filter<2> const& of_y;
    PhasedColumns const& columns;
};

}  // namespace fusekit::hip
