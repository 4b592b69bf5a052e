// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/problem/conv.hpp"

namespace fusekit::hip {

/// Tiling of a convolution of NCHW tensors of 16 bits with any stride and dilation, for GatheredPlanes. The pixels of y
/// of all images form one sequence: pixel (n, p, q) has position (n height + p) pitch + q. The positions between rows
/// (`pitch` - Q) and between images (`height` - P rows) are gaps. A tile is `pixels` consecutive positions.
///
/// The taps of a filter are divided into segments, so that the taps (r, s) of a segment read pixels of x that are a
/// multiple of the stride apart. A segment has its own copy of x in SMEM, with an element per position: element (row,
/// column) is x(row stride_h + first_row, column stride_w + first_column), zero out of bounds of x. So each tap of the
/// segment reads consecutive elements, at its own distance. Padding to the right of a row is also the padding to the
/// left of the next row. Taps that are out of bounds of x for all pixels are omitted.
struct GatherTiles {
    static constexpr int pixels = 240;  ///< positions of a warpgroup's accumulators
    static constexpr int filters = 64, max_taps = 64, max_stages = 4, slice = 16,
                         warps = 8;  ///< of producers
    static constexpr int shared_bytes = 192 * 1024;
    static constexpr int unit = 64;  ///< pixels of x that a producer warp loads at a time
    static constexpr int max_unit_positions = 32;

    int images = 0, y_height = 0, y_width = 0, x_height = 0, x_width = 0;
    int all_taps = 0, window_columns = 0;  ///< of a filter, with the omitted taps
    int first_tap_row = 0, first_tap_column = 0, tap_rows = 0, tap_columns = 0;  ///< taps that are not omitted
    int stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
    int pad_top = 0, pad_left = 0;  ///< before the first tap that is not omitted
    /// Taps r and r + row_step are in the same segment, their pixels of x tap_height rows of positions apart; likewise
    /// columns. The segments are row_segments x column_segments.
    int row_step = 1, column_step = 1, tap_height = 1, tap_width = 1, row_segments = 1, column_segments = 1;
    int pitch = 0, height = 0;
    int segment_pixels = 0;  ///< distance in SMEM from a segment to the next, in positions
    int slices = 1, stages = 0;  ///< slices of 16 channels per stage; stages that fit SMEM
    bool wide = false;  ///< true if both warpgroups compute the same 64 channels, of different positions; else 64 each
    FastDivmod of_row = {}, of_image = {}, of_plane = {}, channel_tiles = {}, filter_chunks = {};
    FastDivmod of_x_row = {}, of_stride_h = {}, of_stride_w = {}, units = {};  ///< units of a plane of x
    unsigned positions = 0, tiles = 0;
    int unit_positions = 0;  ///< units of x of a producer warp, times copies()

    FUSEKIT_HD constexpr int taps() const { return tap_rows * tap_columns; }
    FUSEKIT_HD constexpr int segments() const { return row_segments * column_segments; }
    FUSEKIT_HD constexpr int tile_pixels() const { return wide ? 2 * pixels : pixels; }
    FUSEKIT_HD constexpr int tile_filters() const { return wide ? filters : 2 * filters; }
    FUSEKIT_HD constexpr unsigned first_position(unsigned tile) const {
        return channel_tiles.divide(tile) * static_cast<unsigned>(tile_pixels());
    }
    /// log2(slices), which is 1, 2 or 4.
    FUSEKIT_HD constexpr int slice_bits() const { return slices >> 1; }
    /// Number of positions that a tile's taps read from segment `i`.
    FUSEKIT_HD constexpr int length(int i) const {
        int const row = i / column_segments, column = i % column_segments;
        return tile_pixels() + (tap_rows - 1 - row) / row_step * tap_height * pitch +
               (tap_columns - 1 - column) / column_step * tap_width;
    }
    FUSEKIT_HD constexpr int first_row(int segment) const { return segment / column_segments * dilation_h - pad_top; }
    FUSEKIT_HD constexpr int first_column(int segment) const {
        return segment % column_segments * dilation_w - pad_left;
    }
    /// Offset, in positions from the start of a stage, of the element that tap (r, s) reads for a tile's first
    /// position.
    FUSEKIT_HD constexpr int tap_offset(int r, int s) const {
        int const segment = r % row_step * column_segments + s % column_step;
        return segment * segment_pixels + r / row_step * tap_height * pitch + s / column_step * tap_width;
    }

    /// Positions that a pixel of x may have in a tile: several if taps have segments of their own.
    FUSEKIT_HD constexpr int copies() const {
        return (tap_height == 0 ? row_segments : 1) * (tap_width == 0 ? column_segments : 1);
    }
    /// Upper bound of the units of x that a tile reads. On the host: 64-bit division on a GPU is a call.
    FUSEKIT_H constexpr std::int64_t most_units() const {
        std::int64_t const of_image_positions = std::int64_t{height} * pitch,
                           touched = (length(0) + of_image_positions - 2) / of_image_positions + 1,
                           all = touched < images ? touched : images, skipped = pad_top < 0 ? -pad_top : 0;
        std::int64_t const rows = (length(0) / pitch + 2) * stride_h + (row_segments - 1) * dilation_h + 1 + skipped,
                           by_rows = (rows * x_width + unit - 1) / unit + 1, of_plane_units = units.value(),
                           of_edge = by_rows < of_plane_units ? by_rows : of_plane_units;
        return all < 2 ? of_edge : 2 * of_edge + (all - 2) * of_plane_units;
    }

    /// Positions of the units of x are at the end of the stages' SMEM.
    FUSEKIT_HD constexpr int positions_begin() const { return shared_bytes - warps * unit_positions * 128; }

    /// A stage of SMEM: first, for each 8 channels, all segments, 16 bytes per position, and 8 positions for pixels
    /// that have none; then filters, with all taps of the stage's channels in filter_chunks chunks of 16 bytes, and one
    /// more chunk where rows would otherwise begin in the same banks.
    FUSEKIT_HD constexpr int chunk_bytes() const { return (segments() * segment_pixels + 8) * 16; }
    FUSEKIT_HD constexpr int filter_pitch() const { return (2 * slices * all_taps | 1) * 16; }
    /// Number of stages of a tile for `channels` channels of x.
    FUSEKIT_HD constexpr int channel_blocks(int channels) const {
        return (channels + slices * slice - 1) / (slices * slice);
    }
    FUSEKIT_HD constexpr int stage_bytes() const {
        return 2 * slices * chunk_bytes() + tile_filters() * filter_pitch();
    }

    /// Taps of the columns of filters whose rows are [begin, end): those that read x in bounds for a pixel of the tile
    /// from position `start` on; one row if none is in bounds.
    struct TapRows {
        int begin, end;
    };
    FUSEKIT_HD constexpr TapRows tap_rows_of(std::uint32_t start) const {
        std::uint32_t const last = start + static_cast<std::uint32_t>(tile_pixels()) - 1, n = of_image.divide(start);
        if (n != of_image.divide(last)) return {0, tap_rows};
        auto const row = [&](std::uint32_t at) { return static_cast<int>(of_row.divide(at - n * of_image.value())); };
        int const first = row(start) * stride_h - pad_top, end = row(last) * stride_h - pad_top;
        TapRows result{0, tap_rows};
        while (result.begin < tap_rows - 1 && end + result.begin * dilation_h < 0) ++result.begin;
        while (result.end > result.begin + 1 && first + (result.end - 1) * dilation_h >= x_height) --result.end;
        return result;
    }

    /// Number of elements of a channel of y, of all images, before position `at`.
    FUSEKIT_HD constexpr std::uint32_t elements_before(std::uint32_t at) const {
        std::uint32_t const n = of_image.divide(at);
        if (n >= static_cast<std::uint32_t>(images)) return static_cast<std::uint32_t>(images) * of_plane.value();
        std::uint32_t const within = at - n * of_image.value(), row = of_row.divide(within),
                            column = within - row * of_row.value(), width = static_cast<std::uint32_t>(y_width);
        if (row >= static_cast<std::uint32_t>(y_height)) return (n + 1) * of_plane.value();
        return n * of_plane.value() + row * width + (column < width ? column : width);
    }
    /// True if `at` is a pixel of y, not a position in a gap.
    FUSEKIT_HD constexpr bool is_pixel(std::uint32_t at) const {
        return elements_before(at + 1) != elements_before(at);
    }
};

namespace detail {

/// One spatial mode of a convolution, for the construction of GatherTiles: extents of x and y, taps in bounds,
/// segments, and `pitch`, the positions from a row of y to the next.
struct GatherMode {
    std::int64_t x, y;
    int first_tap = 0, taps = 0, stride, dilation, pad;
    int step = 1, distance = 1, segments = 1, span = 0;
    std::int64_t pitch = 0;

    /// `splits`: one segment per tap.
    FUSEKIT_H constexpr GatherMode(Filter<2> const& filter, int mode, std::int64_t extent_of_x,
                                   std::int64_t extent_of_y, bool splits)
        : x(extent_of_x),
          y(extent_of_y),
          stride(filter.strides[mode]),
          dilation(filter.dilations[mode]),
          pad(filter.pad_before[mode]) {
        int const size = filter.size[mode];
        while (first_tap < size && !is_inside(first_tap)) ++first_tap;
        int end = size;
        while (end > first_tap && !is_inside(end - 1)) --end;
        taps = end - first_tap;
        if (taps == 0) return;
        pad -= first_tap * dilation;
        int common = stride;
        while (dilation % common != 0 || stride % common != 0) --common;
        step = splits ? taps : stride / common;
        distance = splits ? 0 : dilation / common;
        segments = step < taps ? step : taps;
        span = (taps - 1) / step * distance;
        int shared = 0;
        while (shared < span && can_share(shared + 1)) ++shared;
        pitch = y + span - shared;
    }

private:
    /// True if tap i is in bounds of x for some pixel of y.
    FUSEKIT_H constexpr bool is_inside(int i) const {
        std::int64_t const at = std::int64_t{i} * dilation - pad;  // of the first pixel
        if (at >= x || at + (y - 1) * stride < 0) return false;
        return at >= 0 || (-at + stride - 1) / stride * stride + at < x;
    }
    /// True if the last `shared` positions read after a row may also be the first positions of the next row, because
    /// both are padding.
    FUSEKIT_H constexpr bool can_share(int shared) const {
        std::int64_t const next = y + span - shared;  // position of the next row's start
        for (int i = 0; i < segments; ++i) {
            std::int64_t const first = std::int64_t{i} * dilation - pad,
                               last = y - 1 + (taps - 1 - i) / step * distance;  // last position that is read
            if (last >= next && (next * stride + first < x || (last - next) * stride + first >= 0)) return false;
        }
        return true;
    }
};

}  // namespace detail

}  // namespace fusekit::hip
