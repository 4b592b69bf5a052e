// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/tensor/filter.hpp"

namespace fusekit::hip {

/// Part of a depthwise convolution's weight gradient that one thread computes: all taps of `channels` consecutive
/// channels, summed over `columns` consecutive columns of rows of dy. Elements of x and dy have `bytes` bytes, and dy
/// is contiguous along `fast`. The filter's R x S taps, strides and dilations are compile-time constants.
template <int R, int S, int StrideH, int StrideW, int DilationH, int DilationW, int bytes, detail::Axis fast>
struct DepthwiseGradientShape {
    static constexpr bool along_channels = fast == detail::Axis::channel;
    static constexpr int taps = R * S;
    /// rows and columns from the first tap of a window to its last
    static constexpr int window_rows = (R - 1) * DilationH + 1, window_columns = (S - 1) * DilationW + 1;
    /// number of windows, of consecutive rows of dy, that read the same row of x
    static constexpr int depth = (window_rows + StrideH - 1) / StrideH;
    /// Number of columns of x that `count` columns of dy read.
    FUSEKIT_H static constexpr int width(int count) { return (count - 1) * StrideW + window_columns; }
    /// Number of registers of a thread with `count` columns of `lanes` channels: sums, the rows of dy of `depth`
    /// windows, and the current and next rows of x and dy.
    FUSEKIT_H static constexpr int registers(int count, int lanes) {
        auto const words = [&](int elements) {
            return along_channels ? elements * ((bytes * lanes + 3) / 4) : (elements * bytes + 3) / 4;
        };
        return (taps + 1 + depth * count + width(count)) * lanes + StrideH * words(width(count)) + words(count);
    }
    /// limits on registers() in CTAs of 256 threads, in CTAs of 128 threads, and with two channels per thread; lower on
    /// AMD, because gfx908 holds each load's address in two registers and spills
    static constexpr bool is_for_amd = arch::is_targeted<arch::Amd>;
    static constexpr int max_registers = 90, max_registers_of_few = is_for_amd ? max_registers : 136,
                         max_registers_of_pairs = is_for_amd ? 70 : max_registers_of_few;
    static constexpr int channels = along_channels && taps <= 9 && registers(4, 2) <= max_registers_of_pairs ? 2 : 1;

    FUSEKIT_H static constexpr int widest() {
        int const most = along_channels ? StrideW > 1 ? 4 : 7 : bytes == 4 || StrideW > 1 ? 4 : 8;
        return registers(most, channels) <= max_registers_of_few ? most : 4;
    }
    static constexpr int columns = widest(), max_width = 32;  // max_width: bits of a mask
    /// accumulators of a thread: one per tap and channel, then the sum of dy per channel, which is the bias gradient
    static constexpr int sums = (taps + 1) * channels;
    /// true if a CTA has 128 threads instead of 256: more sums would exceed 48 KB of SMEM, or registers
    static constexpr bool has_few_threads = sums > 40 || registers(columns, channels) > max_registers;
    static constexpr int threads = has_few_threads ? 128 : 256, blocks = has_few_threads ? 3 : 2, max_lanes = 32;
    static constexpr bool fits = R <= 7 && S <= 7 && StrideH <= 4 && StrideW <= 4 && sums <= 50 &&
                                 registers(columns, channels) <= max_registers_of_few && width(columns) <= max_width;
};

namespace detail {

/// Type: DepthwiseGradientShape of a filter.
template <auto filter, int bytes, Axis fast>
using GradientShapeOf = DepthwiseGradientShape<filter.size[0], filter.size[1], filter.strides[0], filter.strides[1],
                                               filter.dilations[0], filter.dilations[1], bytes, fast>;

template <class Plan, int bytes>
FUSEKIT_H consteval bool has_depthwise_gradient() {
    constexpr auto filter = Plan::Head::collapsed;
    if constexpr (Plan::Head::collapsed_space != 2 || filter.group_count == 1 || bytes < 2) return false;
    else
        return GradientShapeOf<filter, bytes, Axis::channel>::fits && GradientShapeOf<filter, bytes, Axis::pixel>::fits;
}

}  // namespace detail

/// CTA of DepthwiseHaloWeightGradient, for an R x S filter: R warps, one per row of the filter, times row_groups, which
/// divide the rows of dy.
template <int R, int S>
struct DepthwiseHaloGradientShape {
    static constexpr int row_groups = R > 3 ? 1 : 6 / R, threads = 32 * R * row_groups;
};

/// Kernel argument of DepthwiseHaloWeightGradient. A CTA has a unit of 32 channels and reduces items: tiles of `rows` x
/// `columns` pixels of dy in one image, and the pixels of x that their windows read. Item indices run along columns
/// fastest, then rows, then images. A row of the tile in SMEM has `dy_row_bytes` or `x_row_bytes`, so that half warps
/// that read consecutive rows of dy read different banks.
struct DepthwiseHaloGradientTiles {
    static constexpr int unit = 32, pixel_bytes = 64, blocks = 4, max_shared_bytes = 55 * 1024;

    struct Box {
        FastDivmod columns = {};
        int pixels = 0;
    };
    Box of_x = {}, of_dy = {};
    FastDivmod column_tiles = {}, row_tiles = {};
    unsigned items = 0, units = 0;
    int rows = 1, columns = 1, x_row_bytes = 0, dy_row_bytes = 0;

    FUSEKIT_HD int dy_bytes() const { return rows * dy_row_bytes; }
};

namespace detail {

/// True if a plan's weight gradient has the kernel DepthwiseHaloWeightGradient: for groups, 16-bit elements, windows of
/// consecutive columns, and filters of 20 taps or more; with fewer, DepthwiseWeightGradient is faster.
template <class Plan, int bytes>
FUSEKIT_H consteval bool has_depthwise_halo_gradient() {
    if constexpr (Plan::Head::collapsed_space != 2 || bytes != 2) return false;
    else {
        constexpr auto filter = Plan::Head::collapsed;
        return filter.group_count > 1 && filter.size[0] * filter.size[1] >= 20 && filter.size[0] <= 7 &&
               filter.size[1] <= 7 && filter.strides[0] <= 4 && filter.strides[1] <= filter.size[1] &&
               filter.dilations[1] == 1;
    }
}

/// Number of CTAs per unit that are resident at once.
FUSEKIT_H inline std::int64_t halo_gradient_splits(std::int64_t units, int processors) {
    std::int64_t const splits = std::int64_t{processors} * DepthwiseHaloGradientTiles::blocks / units;
    return splits > 1 ? splits : 1;
}

/// Returns the tiling with the least estimated time; no items if none fits SMEM. dy: extents N x K x P x Q.
template <class Shape>
FUSEKIT_H DepthwiseHaloGradientTiles choose_halo_gradient_tiles(Filter<2> const& filter, Index<4> const& dy,
                                                                int processors) {
    using Tiles = DepthwiseHaloGradientTiles;
    constexpr int pixel = Tiles::pixel_bytes;
    auto const odd = [](std::int64_t columns) { return static_cast<int>((columns | 1) * pixel); };
    std::int64_t const units = divide_up(dy[1], std::int64_t{Tiles::unit}),
                       splits = halo_gradient_splits(units, processors);
    Tiles best;
    double least = 0;
    for (std::int64_t const width : {64, 32, 16, 8, 4}) {
        std::int64_t const across = divide_up(dy[3], width), columns = divide_up(dy[3], across),
                           wide = (columns - 1) * filter.strides[1] + filter.size[1];
        for (std::int64_t const height : {32, 16, 8, 4, 2}) {
            std::int64_t const down = divide_up(dy[2], height), rows = divide_up(dy[2], down),
                               high = (rows - 1) * filter.strides[0] +
                                      std::int64_t{filter.size[0] - 1} * filter.dilations[0] + 1;
            Tiles tiles;
            // Half warps are filter.strides[0] rows of x apart: an odd multiple of 64 bytes.
            int const stride = filter.strides[0];
            tiles.x_row_bytes = stride % 2 == 1 ? odd(wide) : static_cast<int>(wide) * pixel + pixel / stride;
            tiles.dy_row_bytes = odd(columns);
            if (high > 512 || wide > 512 ||
                high * tiles.x_row_bytes + rows * tiles.dy_row_bytes > Tiles::max_shared_bytes)
                continue;
            std::int64_t const items = dy[0] * across * down;
            if (items >= std::int64_t{1} << 31) continue;
            // cycles per item, of one of four CTAs on an SM: copies at 5 bytes a cycle, instructions at one a cycle
            constexpr int warps = Shape::threads / 32;
            double const load = 12.8 * static_cast<double>(high * wide + rows * columns),
                         multiply =
                             warps * static_cast<double>(divide_up(rows, std::int64_t{2 * Shape::row_groups})) *
                             (static_cast<double>(columns) * (4 + 2 * filter.strides[1] + 2 * filter.size[1]) + 20),
                         cycles = static_cast<double>(divide_up(items, splits)) *
                                  ((load > multiply ? load : multiply) + 0.3 * load + 1000);
            if (best.items != 0 && cycles >= least) continue;
            auto const divisor = [](std::int64_t value) { return FastDivmod(static_cast<std::uint32_t>(value)); };
            tiles.rows = static_cast<int>(rows), tiles.columns = static_cast<int>(columns);
            tiles.of_x = {divisor(wide), static_cast<int>(high * wide)};
            tiles.of_dy = {divisor(columns), static_cast<int>(rows * columns)};
            tiles.column_tiles = divisor(across), tiles.row_tiles = divisor(down);
            tiles.items = static_cast<unsigned>(items), tiles.units = static_cast<unsigned>(units);
            best = tiles, least = cycles;
        }
    }
    return best;
}

}  // namespace detail

/// Kernel argument: how DepthwiseWeightGradient divides its work. 2^lane_bits threads of a CTA have different channels;
/// the others have the same channels and other items. An item is a tile of dy in one image: `rows` rows x the columns
/// of a DepthwiseGradientShape. Item indices run along columns fastest, then rows, then images.
struct DepthwiseGradientTiles {
    FastDivmod column_tiles = {}, row_tiles = {};
    unsigned items = 0, lane_bits = 0;
    unsigned tiles = 0;  ///< number of tiles of dw: channels of y in units of a CTA's
    int rows = 1;
    int x_vector = 1, dy_vector = 1;  ///< elements per load along dy's contiguous mode
    int multiplier = 1;  ///< filters per channel of x
    DepthwiseHaloGradientTiles halo = {};  ///< of DepthwiseHaloWeightGradient
};

}  // namespace fusekit::hip
