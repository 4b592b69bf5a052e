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
};

}  // namespace fusekit::hip
