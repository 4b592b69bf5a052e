// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/backend/hip/tuning/tile_costs.hpp"
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
    static constexpr int filters = 64, max_taps = 64, max_stages = 4, slice = 16;
    static constexpr int shared_bytes = 192 * 1024;

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
    unsigned positions = 0, tiles = 0;

    FUSEKIT_HD constexpr int taps() const { return tap_rows * tap_columns; }
    FUSEKIT_HD constexpr int segments() const { return row_segments * column_segments; }
    FUSEKIT_HD constexpr int tile_pixels() const { return wide ? 2 * pixels : pixels; }
    FUSEKIT_HD constexpr int tile_filters() const { return wide ? filters : 2 * filters; }
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

    /// A stage of SMEM: first, for each 8 channels, all segments, 16 bytes per position; then filters, with all taps of
    /// the stage's channels in filter_chunks chunks of 16 bytes, and one more chunk where rows would otherwise begin in
    /// the same banks.
    FUSEKIT_HD constexpr int chunk_bytes() const { return segments() * segment_pixels * 16; }
    FUSEKIT_HD constexpr int filter_pitch() const { return (2 * slices * all_taps | 1) * 16; }
    /// Number of stages of a tile for `channels` channels of x.
    FUSEKIT_HD constexpr int channel_blocks(int channels) const {
        return (channels + slices * slice - 1) / (slices * slice);
    }
    FUSEKIT_HD constexpr int stage_bytes() const {
        return 2 * slices * chunk_bytes() + tile_filters() * filter_pitch();
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

/// Number of groups of 32 positions x 8 channels that producer warps gather per slice of 16 channels.
FUSEKIT_H constexpr double gathered_groups(GatherTiles const& tiles) {
    int groups = 0;
    for (int i = 0; i < tiles.segments(); ++i) groups += (tiles.length(i) + 31) / 32;
    return 2.0 * groups;
}

/// Estimated cycles of a slice of 16 channels of a tile, for GatheredPlanes: the maximum of the cycles of MMAs, of SMEM
/// accesses, and of the producers' global loads.
FUSEKIT_H constexpr double gather_cycles(GatherTiles const& tiles) {
    using Costs = GatherTileCosts;
    double const taps = tiles.taps(), groups = gathered_groups(tiles),
                 batches = static_cast<double>(divide_up(tiles.slices * tiles.taps(), 4)) / tiles.slices,
                 mma = Costs::mmas * taps, alternating = Costs::alternating_mmas * taps + Costs::fragments * batches,
                 filters = tiles.tile_filters() * tiles.all_taps / 4.0,
                 shared = Costs::shared * taps + filters + Costs::shared_group * groups,
                 loads = groups / 32 * Costs::loads;
    double most = mma;
    for (double const other : {alternating, shared, loads}) most = other > most ? other : most;
    return tiles.stages < 2 ? mma + loads : most;
}

/// Bytes of x and of filters that a CTA reads from L2 per slice of 16 channels.
FUSEKIT_H constexpr double gathered_bytes(GatherTiles const& tiles) {
    return gathered_groups(tiles) * 8 * 32 *
               (tiles.stride_w > 1 ? GatherTileCosts::strided_sectors : GatherTileCosts::sectors) +
           32.0 * tiles.tile_filters() * tiles.all_taps;
}

}  // namespace detail

/// Returns the tiling with the least estimated time on `processors` SMs; `stages` is 0 if none fits SMEM or no tap is
/// in bounds of x. With split-K, `sharers` CTAs reduce a tile, which has 128 channels.
FUSEKIT_H constexpr GatherTiles gather_tiles(Index<4> const& x, Index<4> const& y, Filter<2> const& filter,
                                             int processors, int sharers = 1) {
    GatherTiles best;
    double least = 0;
    for (int variant = 0; variant < (sharers > 1 ? 4 : 8); ++variant) {
        detail::GatherMode const rows(filter, 0, x[2], y[2], variant & 1), columns(filter, 1, x[3], y[3], variant & 2);
        std::int64_t const all_taps = std::int64_t{filter.size[0]} * filter.size[1],
                           positions = y[0] * rows.pitch * columns.pitch;
        if (rows.taps == 0 || columns.taps == 0 || all_taps > GatherTiles::max_taps || positions >= 1 << 30) return {};
        GatherTiles tiles;
        tiles.images = static_cast<int>(y[0]);
        tiles.y_height = static_cast<int>(y[2]), tiles.y_width = static_cast<int>(y[3]);
        tiles.x_height = static_cast<int>(x[2]), tiles.x_width = static_cast<int>(x[3]);
        tiles.all_taps = static_cast<int>(all_taps), tiles.window_columns = filter.size[1];
        tiles.first_tap_row = rows.first_tap, tiles.first_tap_column = columns.first_tap;
        tiles.tap_rows = rows.taps, tiles.tap_columns = columns.taps;
        tiles.stride_h = rows.stride, tiles.stride_w = columns.stride;
        tiles.dilation_h = rows.dilation, tiles.dilation_w = columns.dilation;
        tiles.pad_top = rows.pad, tiles.pad_left = columns.pad;
        tiles.row_step = rows.step, tiles.column_step = columns.step;
        tiles.tap_height = rows.distance, tiles.tap_width = columns.distance;
        tiles.row_segments = rows.segments, tiles.column_segments = columns.segments;
        tiles.height = static_cast<int>(rows.pitch), tiles.pitch = static_cast<int>(columns.pitch);
        tiles.wide = (variant & 4) != 0;
        auto const divisor = [](std::int64_t value) { return FastDivmod(static_cast<std::uint32_t>(value)); };
        tiles.of_row = divisor(columns.pitch), tiles.of_image = divisor(rows.pitch * columns.pitch);
        tiles.of_plane = divisor(y[2] * y[3]);
        tiles.channel_tiles = divisor(detail::divide_up(y[1], tiles.tile_filters()));
        tiles.positions = static_cast<unsigned>(positions);
        tiles.tiles =
            static_cast<unsigned>(detail::divide_up(positions, tiles.tile_pixels())) * tiles.channel_tiles.value();
        std::int64_t const longest = tiles.length(0);
        if (longest > 8192) continue;
        tiles.segment_pixels = static_cast<int>((longest + 7) / 8 * 8);
        if (tiles.segments() * tiles.segment_pixels >= 1 << 14) continue;
        for (tiles.slices = 4; tiles.slices >= 1; tiles.slices /= 2) {
            int const fit = GatherTiles::shared_bytes / tiles.stage_bytes();
            tiles.stages = fit < GatherTiles::max_stages ? fit : GatherTiles::max_stages;
            if (tiles.slices > 1 && (tiles.stages < 3 || tiles.slices * tiles.taps() > 12)) continue;
            break;
        }
        if (tiles.slices == 0 || tiles.stages == 0) continue;
        tiles.filter_chunks = divisor(std::int64_t{2} * tiles.slices * tiles.all_taps);
        double const rounds = static_cast<double>(
                         detail::divide_up(static_cast<std::int64_t>(tiles.tiles) * sharers, processors)),
                     time = rounds * detail::gather_cycles(tiles);
        if (best.stages == 0 || time < least) best = tiles, least = time;
    }
    return best;
}

}  // namespace fusekit::hip
