// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/copy/nchw_planes.hpp"
#include "fusekit/backend/hip/mma/bf16x6.hpp"

namespace fusekit::hip {

/// A producer warp's part of transposing the planes of x that PlaneCopies has copied to SMEM. The result is a tile of x
/// with a row per pixel: 16-byte chunks of 8 channels, swizzled within the row. Pixels out of bounds of x become zero;
/// floats become three bfloat16 terms. A group of warps (PlaneWarps) transposes 8 channels; its warps divide the
/// pixels.
template <class T, class Grid, int parts>
class PlaneTransposer {
    using Tiles = typename Grid::Tiles;
    using Warps = PlaneWarps<Tiles>;
    using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>;
    using Chunk = Packet<std::uint32_t, Warps::own / 2>;
    static constexpr int own = Warps::own, channels = Tiles::channels;
    /// distance from one of a lane's pixels to its next, in pixels of the tile
    static constexpr int stride = 32 * static_cast<int>(Warps::sharing);
    static constexpr int in_flight = 2;  ///< number of pixels that a lane loads before it stores the first of them
    static constexpr bool has_few_pixels = parts * Tiles::pixels <= 256;

public:
    __device__ PlaneTransposer(Tiles const& the_tiles, Grid const& the_grid, int channels_of_x, unsigned warp,
                               unsigned lane)
        : tiles(the_tiles),
          grid(the_grid),
          count(channels_of_x),
          pitch(the_tiles.plane_pitch()),
          group(warp / Warps::sharing),
          first_pixel(static_cast<int>(warp % Warps::sharing * 32 + lane)),
          lane_row(first_pixel / tiles.pitch),
          lane_column(first_pixel % tiles.pitch),
          rows_of_stride(stride / tiles.pitch),
          columns_of_stride(stride % tiles.pitch) {}

    /// Reads the PlaneParts of output tile number `tile`. Called once per output tile, before transpose() of the tile's
    /// first channel block.
    __device__ void begin(unsigned tile) {
        first_part = grid.part(tile, 0);
        count_of_parts = grid.count_parts(tile);
    }

    /// Transposes channel block number `block` of x from the SMEM stage `planes` to the SMEM tile `tile`. All lanes
    /// call it.
    __device__ void transpose(int block, T const* planes, unsigned char* tile) const {
        bool const in_bounds = block * channels + static_cast<int>(group) * own < count;
        if (in_bounds && tiles.single && (parts == 1 || (has_few_pixels && tiles.whole())))
            return transpose_pixels(planes, tile);
        PlanePart part = first_part;
#pragma unroll 1
        for (int i = 0; i < count_of_parts; ++i, part = grid.after(part))
            transpose_part(i, part.row, in_bounds, planes, tile);
    }

private:
    Tiles const& tiles;
    Grid const& grid;
    int count, pitch;
    unsigned group;
    int first_pixel, lane_row, lane_column, rows_of_stride, columns_of_stride;
    PlanePart first_part;
    int count_of_parts;

    /// Computes into `found`, for each of the warp's 8 channels, the byte offset in the SMEM stage `planes` of row
    /// `first` of x, in PlanePart number `part`.
    __device__ void find_channels(int (&found)[own], int part, int first) const {
#pragma unroll
        for (int i = 0; i < own; ++i) {
            int const channel = static_cast<int>(group) * own + i;
            found[i] =
                static_cast<int>(sizeof(T)) * ((part * channels + channel) * pitch + tiles.early(channel, first));
        }
    }

    /// SMEM address of the 16-byte chunk with the warp's 8 channels of pixel `tile_pixel` of the tile.
    __device__ unsigned char* chunk(unsigned char* tile, int tile_pixel) const {
        return tile + Tiles::chunk_offset(tile_pixel, group);
    }

    /// Transposes the pixels of all PlaneParts of the output tile, for 1x1 filters. Also copies the values after a
    /// part's last pixel, which no pixel of y reads.
    __device__ void transpose_pixels(T const* planes, unsigned char* tile) const {
        int const of_part = tiles.rows, pixels = count_of_parts * of_part,
                  reciprocal = parts == 1 ? 0 : (1 << 16) / of_part + 1;  // exact up to pixel 256
        auto const* const bytes = reinterpret_cast<unsigned char const*>(planes);
        int from[own];
        find_channels(from, 0, tiles.first_row_of_x(first_part.row));
#pragma unroll 1
        for (int pixel = first_pixel; pixel < pixels; pixel += stride * in_flight) {
            Bits values[in_flight][own];
            int tile_pixel[in_flight];
#pragma unroll
            for (int i = 0; i < in_flight; ++i) {
                int const number = pixel + stride * i < pixels ? pixel + stride * i : pixel,
                          part = number * reciprocal >> 16, at = number - part * of_part;
                tile_pixel[i] = part * Tiles::pixels + at;
                auto const* const here = bytes + (part * channels * pitch + at) * static_cast<int>(sizeof(T));
                load(values[i], here, from);
            }
#pragma unroll
            for (int i = 0; i < in_flight; ++i) put(values[i], true, chunk(tile, tile_pixel[i]));
        }
    }

    __device__ void transpose_part(int part, int row_of_y, bool in_bounds, T const* planes, unsigned char* tile) const {
        int const tile_pixels = tiles.pixels_read(), width = tiles.x_width, first = tiles.first_row_of_x(row_of_y),
                  above = tiles.whole() ? tiles.pad_top : first - (row_of_y - tiles.pad_top),
                  rows = in_bounds ? tiles.end_row_of_x(row_of_y) - first : 0,
                  elements_of_stride = rows_of_stride * width + columns_of_stride;
        int from[own];
        find_channels(from, part, first);
        auto const* const bytes = reinterpret_cast<unsigned char const*>(planes);
        int row = lane_row - above, column = lane_column - tiles.pad_left, offset = row * width + column;
        // A lane's pixels are a multiple of 8 apart, so that all its chunks have the same swizzle.
        unsigned char* stored = chunk(tile, part * tiles.pixels_of_x() + first_pixel);
#pragma unroll 1
        for (int tile_pixel = first_pixel; tile_pixel < tile_pixels; tile_pixel += stride * in_flight) {
            Bits values[in_flight][own];
            bool inside[in_flight];
#pragma unroll
            for (int i = 0; i < in_flight; ++i) {
                inside[i] = static_cast<unsigned>(row) < static_cast<unsigned>(rows) &&
                            static_cast<unsigned>(column) < static_cast<unsigned>(width);
                auto const* const here = bytes + (inside[i] ? offset : 0) * static_cast<int>(sizeof(T));
                load(values[i], here, from);
                row += rows_of_stride, column += columns_of_stride, offset += elements_of_stride;
                if (column + tiles.pad_left >= tiles.pitch) column -= tiles.pitch, offset += width - tiles.pitch, ++row;
            }
#pragma unroll
            for (int i = 0; i < in_flight; ++i, stored += stride * Tiles::row_bytes)
                if (tile_pixel + stride * i < tile_pixels) put(values[i], inside[i], stored);
        }
    }

    /// Loads a pixel's values of the warp's 8 channels: `from` are the channels' byte offsets from `here`.
    __device__ static void load(Bits (&values)[own], unsigned char const* here, int const (&from)[own]) {
#pragma unroll
        for (int c = 0; c < own; ++c) values[c] = *reinterpret_cast<Bits const*>(here + from[c]);
    }

    /// Stores a pixel's values of the warp's 8 channels to `to`, or zeros if the pixel is not `inside` x: 16 bytes, for
    /// floats 16 bytes per bfloat16 term.
    __device__ void put(std::uint16_t const (&values)[own], bool inside, unsigned char* to) const {
        Chunk packed;
#pragma unroll
        for (int i = 0; i < own; i += 2) {
            std::uint32_t const low = values[i], high = values[i + 1];
            packed.values[i / 2] = inside ? low | high << 16 : 0;
        }
        *reinterpret_cast<Chunk*>(to) = packed;
    }
    __device__ void put(std::uint32_t const (&values)[own], bool inside, unsigned char* to) const {
        float remainder[own];
#pragma unroll
        for (int i = 0; i < own; ++i) remainder[i] = inside ? config::bit_cast<float>(values[i]) : 0;
        store_bf16_terms(remainder, to, tiles.term_bytes(parts));
    }
};

}  // namespace fusekit::hip
