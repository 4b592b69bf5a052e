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

/// CTA of DepthwiseHaloWeightGradient, for an R x S filter. A thread has `thread_rows` rows of the filter: all, or one
/// if registers do not hold the sums of all. Warps divide the rows of the filter; row_groups such groups divide the
/// rows of dy. `blocks`: CTAs per SM for which registers suffice.
template <int R, int S>
struct DepthwiseHaloGradientShape {
    static constexpr int thread_rows = R * S <= 25 ? R : 1, row_warps = R / thread_rows,
                         row_groups = row_warps > 3 ? 1 : 4 / row_warps, threads = 32 * row_warps * row_groups,
                         blocks = row_warps > 1 ? 4
                                  : R *S <= 9   ? 5
                                  : R *S <= 12  ? 4
                                                : 3;
};

/// Kernel argument of DepthwiseHaloWeightGradient. A CTA has a unit of 32 channels and reduces items: tiles of `images`
/// images, `rows` rows and `columns` columns of dy, and the pixels of x that their windows read. Item indices run along
/// columns fastest, then rows, then images. Half a warp multiplies a segment, `segment` columns of a row, at a time. A
/// row in SMEM has Box::row_bytes such that half warps that read consecutive rows of dy read different banks.
struct DepthwiseHaloGradientTiles {
    static constexpr int unit = 32, pixel_bytes = 64, max_shared_bytes = 99 * 1024;

    /// Box of pixels in SMEM: `pixels` of `rows` rows per image. step_rows, step_columns: distance of a thread's
    /// consecutive pixels.
    struct Box {
        FastDivmod columns = {};
        int pixels = 0, rows = 0, row_bytes = 0, step_rows = 0, step_columns = 0;

        FUSEKIT_H Box() = default;
        FUSEKIT_H Box(int the_rows, int the_columns, int the_row_bytes, int pixels_at_once)
            : columns(static_cast<std::uint32_t>(the_columns)),
              pixels(the_rows * the_columns),
              rows(the_rows),
              row_bytes(the_row_bytes),
              step_rows(pixels_at_once / the_columns),
              step_columns(pixels_at_once % the_columns) {}
    };
    Box of_x = {}, of_dy = {};
    FastDivmod column_tiles = {}, row_tiles = {};
    FastDivmod lines = {}, image_rows = {};  ///< divisors: rows of dy of an item, and of one of its images
    unsigned items = 0, units = 0;
    int images = 1, rows = 1, columns = 1, segment = 1;
    int segments = 0;  ///< number of segments of an item
    int vector_bytes = 16;  ///< bytes per copy of a thread: 16, or 4 if channels are not aligned vectors of 8

    FUSEKIT_HD int dy_bytes() const { return images * of_dy.rows * of_dy.row_bytes; }
    FUSEKIT_HD int stage_bytes() const { return dy_bytes() + images * of_x.rows * of_x.row_bytes; }
};

namespace detail {

/// True if a plan's weight gradient has the kernel DepthwiseHaloWeightGradient: for groups, 16-bit elements, windows of
/// consecutive columns, and filters of at most 7 rows and columns.
template <class Plan, int bytes>
FUSEKIT_H consteval bool has_depthwise_halo_gradient() {
    if constexpr (Plan::Head::collapsed_space != 2 || bytes != 2) return false;
    else {
        constexpr auto filter = Plan::Head::collapsed;
        return filter.group_count > 1 && filter.size[1] >= 3 && filter.size[0] <= 7 && filter.size[1] <= 7 &&
               filter.strides[0] <= 4 && filter.strides[1] <= filter.size[1] && filter.dilations[1] == 1;
    }
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
