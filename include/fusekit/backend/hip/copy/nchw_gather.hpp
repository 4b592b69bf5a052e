// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/copy/gathered_taps.hpp"
#include "fusekit/backend/hip/gather_tiles.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::hip {

/// A stage is full when all producer warps have arrived, and empty when all 8 consumer warps have released it.
using GatherPipeline = TmaPipeline<GatherTiles::max_stages, 8, GatherTiles::warps>;

/// A lane's two adjacent pixels of x in a slice of 16 channels. Pairs of pixels are at multiples of 4 bytes if
/// `aligned`.
template <bool aligned>
struct GatheredPixels {
    using Element = std::conditional_t<aligned, std::uint32_t, std::uint16_t>;
    static constexpr int loads = aligned ? 1 : 2, channels = 8;
    Element values[2][channels][loads];

    /// Loads the first `count` of two pixels at `from`, of the slice's first channel; halves of 8 channels that are not
    /// `present` become zero. If `aligned`, `count` is not 1.
    template <class T>
    __device__ void load(T const* from, std::int64_t stride, int count, int present) {
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int c = 0; c < channels; ++c)
#pragma unroll
                for (int i = 0; i < loads; ++i)
                    values[half][c][i] =
                        load_if(half < present && i < count,
                                reinterpret_cast<Element const*>(from + (half * channels + c) * stride) + i);
    }
    /// The 8 channels of a half of pixel i.
    __device__ Packet<std::uint32_t, channels / 2> pixel(int half, int i) const {
        Packet<std::uint32_t, channels / 2> result;
#pragma unroll
        for (int c = 0; c < channels; c += 2) {
            if constexpr (aligned) {
                std::uint32_t const one = values[half][c][0], two = values[half][c + 1][0];
                result.values[c / 2] = i == 0 ? (one & 0xffffu) | two << 16 : one >> 16 | (two & 0xffff0000u);
            } else {
                std::uint32_t const one = values[half][c][i], two = values[half][c + 1][i];
                result.values[c / 2] = one | two << 16;
            }
        }
        return result;
    }
};

/// Producer of GatheredPlanes' stages of x: 8 warps transpose planes of x to 16-byte rows of 8 channels. A warp loads
/// units of 64 consecutive pixels of a plane, two per lane, and stores each pixel's channels to the pixel's positions.
/// The loads of a batch of units are issued before the previous batch is stored, also across the stages of a tile.
template <class T, bool aligned>
class NchwGather {
    static constexpr int warps = GatherTiles::warps, unit = GatherTiles::unit, batch = aligned ? 2 : 1;

public:
    /// Gathers channels [begin, end) of x. `the_positions`: the warp's SMEM, for 32 pairs of positions
    /// times GatherTiles::unit_positions.
    __device__ NchwGather(TensorView<T const> const& the_x, GatherTiles const& the_tiles,
                          GatherTables const& the_tables, std::uint32_t* the_positions, unsigned the_warp,
                          unsigned the_lane, int the_begin, int the_end)
        : x(the_x),
          tiles(the_tiles),
          tables(the_tables),
          positions(the_positions + the_lane),
          warp(static_cast<int>(the_warp)),
          lane(static_cast<int>(the_lane)),
          begin(the_begin),
          end(the_end),
          copies(the_tiles.copies()) {}

    /// Begins a tile and loads the first units of its first stage.
    __device__ void begin_tile(unsigned tile) {
        find_pixels(tile);
        find_positions(tile);
        next_c = begin, next_item = 0;
        load();
    }
    /// Writes zeros to a stage. A barrier of the producers follows.
    __device__ void clear(unsigned char* stage) const {
        int const bytes = 2 * tiles.slices * tiles.chunk_bytes();
        for (int at = (warp * 32 + lane) * 16; at < bytes; at += warps * 32 * 16)
            *reinterpret_cast<Packet<std::uint32_t, 4>*>(stage + at) = {};
    }
    /// Stores the warp's units of the next stage, whose positions without pixels of x are zero, and loads ahead.
    __device__ void store(unsigned char* stage) {
        int const items = units * tiles.slices;
#pragma unroll 1
        for (int item = 0; item < items; item += batch) {
#pragma unroll
            for (int i = 0; i < batch; ++i)
                if (item + i < items) put(loaded[i], item + i, stage);
            load();
        }
    }

private:
    TensorView<T const> const& x;
    GatherTiles const& tiles;
    GatherTables const& tables;
    std::uint32_t* positions;
    int warp, lane, begin, end, copies;
    /// Pixels of x that the tile reads: from pixel `first_pixel` of image `first_image` on, units_of_first units of
    /// that image and then those of the following images; the warp has `units` of them.
    int first_image, first_pixel, units_of_first, units;
    unsigned used;  ///< bit i: row i of `positions` has a position of the tile
    unsigned needed;  ///< bit i: the lane's pixels of unit i have positions
    int next_c, next_item;  ///< of the next load: channel, and unit times slices of 16 channels
    GatheredPixels<aligned> loaded[batch];

    __device__ void find_pixels(unsigned tile) {
        auto const images = static_cast<unsigned>(tiles.images);
        unsigned const start = tiles.first_position(tile), last = start + static_cast<unsigned>(tables.length[0]) - 1,
                       n = tiles.of_image.divide(start);
        int const columns = tiles.x_width, plane = tiles.x_height * columns;
        unsigned last_image = tiles.of_image.divide(last);
        int const first_row = static_cast<int>(tiles.of_row.divide(start - n * tiles.of_image.value()));
        int last_row = static_cast<int>(tiles.of_row.divide(last - last_image * tiles.of_image.value()));
        if (last_image >= images) last_image = images - 1, last_row = tiles.height - 1;
        auto const end_after = [&](int position_row) {  // end of the pixels that rows of positions up to this one read
            return clamped(position_row * tiles.stride_h + (tiles.row_segments - 1) * tiles.dilation_h - tiles.pad_top +
                           1) *
                   columns;
        };
        int const until = end_after(last_row);
        first_image = static_cast<int>(n);
        first_pixel = clamped(first_row * tiles.stride_h - tiles.pad_top) * columns / 2 * 2;
        auto const count = [](int pixels) { return pixels > 0 ? (pixels + unit - 1) / unit : 0; };
        units_of_first = count((n == last_image ? until : end_after(tiles.height - 1)) - first_pixel);
        int all = units_of_first;
        if (n != last_image) all += static_cast<int>(last_image - n - 1) * count(plane) + count(until);
        units = all > warp ? (all - warp + warps - 1) / warps : 0;
    }
    /// A row of x, or the end of x's rows, in bounds.
    __device__ int clamped(int row) const { return (min)((max)(row, 0), tiles.x_height); }

    /// Image and first pixel of the warp's unit `number`.
    __device__ void find(int number, int& n, int& pixel) const {
        number = warp + number * warps;
        n = first_image, pixel = first_pixel + number * unit;
        if (number < units_of_first) return;
        auto const after = static_cast<unsigned>(number - units_of_first), image = tiles.units.divide(after);
        n += 1 + static_cast<int>(image);
        pixel = static_cast<int>(after - image * tiles.units.value()) * unit;
    }

    /// Loads the next batch of units of a stage, if the tile has more.
    __device__ void load() {
        int const items = units * tiles.slices;
        if (next_item >= items) next_item = 0, next_c += tiles.slices * GatherTiles::slice;
        if (next_c >= end) return;
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            int const item = next_item + i;
            if (item >= items) continue;
            int const c = next_c + (item & (tiles.slices - 1)) * GatherTiles::slice;
            int n, pixel;
            find(item >> tiles.slice_bits(), n, pixel);
            pixel += 2 * lane;
            int const plane = tiles.x_height * tiles.x_width, left = plane - pixel,
                      count = (needed >> (item >> tiles.slice_bits()) & 1) != 0 ? left : 0;
            loaded[i].load(x.data + n * x.layout.stride[0] + c * x.layout.stride[1] + pixel, x.layout.stride[1], count,
                           (static_cast<int>(x.layout.shape[1]) - c) / 8);
        }
        next_item += batch;
    }

    /// Segment, and index in it, of row or column `at` of x (from the padding's start), if a segment from `i` on has
    /// it.
    struct Place {
        int segment = -1, index = 0;

        __device__ Place(int at, int i, int segments, int dilation, FastDivmod const& stride) {
            for (; i < segments; ++i) {
                int const offset = at - i * dilation;
                if (offset < 0) return;
                auto const of = static_cast<int>(stride.divide(static_cast<unsigned>(offset)));
                if (of * static_cast<int>(stride.value()) == offset) segment = i, index = of;
            }
        }
    };

    /// True if no element of rows [first, last] of x has a position of the tile in row `i` of the segments. `start`:
    /// the tile's first position, from the image's first on.
    __device__ bool is_outside(int first, int last, int i, int start) const {
        int const from = first + tiles.pad_top - i * tiles.dilation_h, to = last + tiles.pad_top - i * tiles.dilation_h;
        if (to < 0) return true;
        auto const row = [&](int at) { return static_cast<int>(tiles.of_stride_h.divide(static_cast<unsigned>(at))); };
        return (row(to) + 1) * tiles.pitch <= start ||
               row((max)(from, 0)) * tiles.pitch >= start + tables.length[i * tiles.column_segments];
    }

    /// Computes the pairs of positions in the tile of the lane's pixels of each unit: several pairs if taps have
    /// segments of their own.
    __device__ void find_positions(unsigned tile) {
        used = 0, needed = 0;
        auto const none = static_cast<std::uint32_t>(tiles.segments() * tiles.segment_pixels);
        int const rows = tiles.tap_height == 0 ? tiles.row_segments : 1,
                  columns = tiles.tap_width == 0 ? tiles.column_segments : 1;
        auto const row_of = [&](int at) { return static_cast<int>(tiles.of_x_row.divide(static_cast<unsigned>(at))); };
#pragma unroll 1
        for (int u = 0, entry = 0; u < units; ++u) {
            int n, first;
            find(u, n, first);
            int const start =
                static_cast<int>(tiles.first_position(tile)) - n * static_cast<int>(tiles.of_image.value());
#pragma unroll 1
            for (int i = 0; i < rows; ++i) {
                bool const outside = rows > 1 && is_outside(row_of(first), row_of(first + unit - 1), i, start);
#pragma unroll 1
                for (int j = 0; j < columns; ++j, ++entry) {
                    std::uint32_t pair = 0;
#pragma unroll 1
                    for (int k = 1; k >= 0; --k) {
                        int const pixel = first + 2 * lane + k, row = row_of(pixel);
                        pair = pair << 16 |
                               position(pixel, row, pixel - row * tiles.x_width, i, j, rows > 1, columns > 1, start);
                    }
                    positions[entry * 32] = pair;
                    if ((pair & 0xffffu) < none || pair >> 16 < none) needed |= 1u << u;
                    if (!outside) used |= 1u << entry;
                }
            }
        }
    }
    /// Position in the tile of a pixel of x, in rows i and columns j of the segments or, unless they are of one tap
    /// each
    /// (`of_row`, `of_column`), in the segment that has the pixel; a position that no tap reads if there is none.
    __device__ std::uint32_t position(int pixel, int row, int column, int i, int j, bool of_row, bool of_column,
                                      int start) const {
        Place const in_rows(row + tiles.pad_top, i, of_row ? i + 1 : tiles.row_segments, tiles.dilation_h,
                            tiles.of_stride_h),
            in_columns(column + tiles.pad_left, j, of_column ? j + 1 : tiles.column_segments, tiles.dilation_w,
                       tiles.of_stride_w);
        int const segment = in_rows.segment * tiles.column_segments + in_columns.segment,
                  at = in_rows.index * tiles.pitch + in_columns.index - start;
        bool const inside = pixel < tiles.x_height * tiles.x_width && in_rows.segment >= 0 && in_columns.segment >= 0 &&
                            in_rows.index < tiles.height && in_columns.index < tiles.pitch && at >= 0 &&
                            at < tables.length[(max)(segment, 0)];
        return static_cast<std::uint32_t>(inside ? segment * tiles.segment_pixels + at
                                                 : tiles.segments() * tiles.segment_pixels + lane % 8);
    }

    /// Stores a unit of a slice to its positions.
    __device__ void put(GatheredPixels<aligned> const& from, int item, unsigned char* stage) const {
        int const chunk = tiles.chunk_bytes(), first = (item >> tiles.slice_bits()) * copies;
        unsigned char* const to = stage + 2 * (item & (tiles.slices - 1)) * chunk;
#pragma unroll 1
        for (int entry = first; entry < first + copies; ++entry) {
            if (!(used >> entry & 1)) continue;
            std::uint32_t const pair = positions[entry * 32];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                unsigned char* const at = to + (i == 0 ? pair & 0xffffu : pair >> 16) * 16;
#pragma unroll
                for (int half = 0; half < 2; ++half)
                    *reinterpret_cast<Packet<std::uint32_t, 4>*>(at + half * chunk) = from.pixel(half, i);
            }
        }
    }
};

}  // namespace fusekit::hip
