// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/depthwise_tiles.hpp"
#include "fusekit/backend/hip/tuning/tile_costs.hpp"

namespace fusekit::hip {

/// Outputs that one thread of a DepthwiseHalo kernel computes in a step: `channels` consecutive channels of `rows` rows
/// and `columns` columns of y. `Window`: an UnrolledWindow. Elements of x have 2 bytes.
template <class Window>
struct DepthwiseHaloShape {
    static constexpr int channels = Window::taps <= 9 ? 2 : 1, columns = 7, rows = 4;
    /// columns and rows of x that these outputs read
    static constexpr int width = (columns - 1) * Window::stride_w + Window::columns,
                         height = (rows - 1) * Window::stride_h + Window::rows;
    /// Registers of a thread: weights, accumulators of the rows that read one row of x, a row of x and its operands.
    static constexpr int live_rows = Window::depth < rows ? Window::depth : rows,
                         registers = channels * (Window::taps + live_rows * columns + width) + width;
    static constexpr int max_registers = 110;  ///< of 128; addresses and the epilogue use the others
    /// false for 3x3 filters with a stride: Depthwise's kernel without SMEM takes 0.88 of the time on an H200
    static constexpr bool fits = registers <= max_registers && (Window::stride_w == 1 || Window::taps > 9);
    static constexpr bool prefetches = registers + width <= 100;  ///< true if a row is loaded before it is needed
};
template <>
struct DepthwiseHaloShape<AnyWindow> {
    static constexpr int channels = 1, columns = 1, rows = 1;
    static constexpr bool fits = false;
};
template <int R, int S, int StrideH, int StrideW, int Left>
struct DepthwiseHaloShape<SpreadWindow<R, S, StrideH, StrideW, Left>> : DepthwiseHaloShape<AnyWindow> {};

/// Extents of a DepthwiseHaloShape and of its window as run-time values. channels is 0 if there is none.
struct DepthwiseHaloNumbers {
    int channels = 0, rows = 0, columns = 0;
    PerMode<2> window = {}, strides = {};

    template <class Window>
    FUSEKIT_H static constexpr DepthwiseHaloNumbers of() {
        using Shape = DepthwiseHaloShape<Window>;
        if constexpr (!Shape::fits) return {};
        else
            return {Shape::channels,
                    Shape::rows,
                    Shape::columns,
                    {Window::rows, Window::columns},
                    {Window::stride_h, Window::stride_w}};
    }
};

/// Kernel argument: how a DepthwiseHalo kernel divides the outputs among CTAs and threads. A plane is a channel of an
/// image; the planes of an image's channels are consecutive, and images follow each other. A CTA computes `rows` rows
/// of `planes` planes, in steps of `step_rows` rows. Consecutive threads count along planes, column groups, and then
/// row groups.
struct DepthwiseHaloTiles {
    static constexpr int planes = 64, stages = 3;  ///< stages: steps whose rows of x are in SMEM
    static constexpr int max_threads = 256, max_shared_bytes = 110 * 1024;

    FastDivmod channels = {}, weights = {};  ///< C, and C R S
    FastDivmod plane_blocks = {}, tiles_across = {};  ///< CTAs along planes, and along columns
    FastDivmod column_groups = {};
    int threads = 0, row_groups = 0;
    int rows = 0, step_rows = 0;
    int halo_columns = 0;  ///< columns of x of a CTA
    int ring_rows = 0;  ///< rows of x in SMEM
    int vector = 0;  ///< channels per copy
    int copied_columns = 0;  ///< columns of x that the threads copy at once
    int shared_bytes = 0;
    std::int64_t ctas = 0;
    bool few_ctas = false;  ///< true if an SM has one CTA at most

    /// Sets the division with the least estimated time for y, on `processors` SMs, with elements of `bytes` bytes.
    /// Returns false if no tile fits SMEM, or indices exceed 31 bits.
    FUSEKIT_H constexpr bool choose(DepthwiseHaloNumbers const& of, Index<4> const& y, int bytes, int processors) {
        int const lanes = planes / of.channels, groups = max_threads / lanes, height = static_cast<int>(y[2]),
                  taps = of.window.h * of.window.w, weight_bytes = taps * planes * 4,
                  all_columns = divide_up_32(static_cast<int>(y[3]), of.columns);
        // planes and weights, also those past the last plane, are numbered in 31 bits (FastDivmod)
        if ((y[1] + planes) * taps >= most_numbers || y[0] * y[1] + planes >= most_numbers) return false;
        std::int64_t const blocks = detail::divide_up(y[0] * y[1], planes);
        double least = -1;
        DepthwiseHaloTiles best;
        for (int at_once = groups; at_once >= 1; at_once /= 2) {
            int const across = divide_up_32(all_columns, at_once), column_count = divide_up_32(all_columns, across);
            if (column_count > at_once || (at_once < groups && all_columns * 2 <= at_once)) continue;
            halo_columns = (column_count * of.columns - 1) * of.strides.w + of.window.w;
            int const row_bytes = halo_columns * planes * bytes;
            for (row_groups = 1; row_groups * column_count <= groups; row_groups *= 2) {
                threads = divide_up_32(row_groups * column_count * lanes, 32) * 32;
                step_rows = row_groups * of.rows;
                int const steps = divide_up_32(height, step_rows);
                for (int parts = 1; parts < 2 * steps; parts *= 2) {
                    int const of_part = divide_up_32(steps, parts);
                    rows = of_part * step_rows;
                    // all rows of a step, also those past y, whose outputs are computed but not stored
                    ring_rows = ((min)(rows, stages * step_rows) - 1) * of.strides.h + of.window.h;
                    shared_bytes = weight_bytes + ring_rows * row_bytes;
                    if (shared_bytes > max_shared_bytes) continue;
                    ctas = blocks * across * divide_up_32(height, rows);
                    int const height_of_x = ((min)(rows, height) - 1) * of.strides.h + of.window.h;
                    double const shared_columns = taps <= 9
                                                      ? DepthwiseHaloTileCosts::shared_column *
                                                            (halo_columns - column_count * of.columns * of.strides.w)
                                                      : 0;
                    double const traffic = (halo_columns + shared_columns) * planes * bytes * height_of_x +
                                           static_cast<double>(rows) * column_count * of.columns * planes * bytes,
                                 instructions = static_cast<double>(of_part) *
                                                (of.rows * of.columns * of.channels *
                                                     (taps + DepthwiseHaloTileCosts::tap_instructions) +
                                                 DepthwiseHaloTileCosts::thread_instructions),
                                 time = cycles(processors, instructions, traffic);
                    if (least < 0 || time < least) {
                        least = time, best = *this;
                        best.tiles_across = FastDivmod(static_cast<std::uint32_t>(across));
                        best.column_groups = FastDivmod(static_cast<std::uint32_t>(column_count));
                    }
                }
            }
        }
        if (least < 0) return false;
        int const the_vector = vector;
        *this = best, vector = the_vector, copied_columns = threads * vector / planes, few_ctas = ctas <= processors;
        channels = FastDivmod(static_cast<std::uint32_t>(y[1]));
        weights = FastDivmod(static_cast<std::uint32_t>(y[1] * taps));
        plane_blocks = FastDivmod(static_cast<std::uint32_t>(blocks));
        return true;
    }

private:
    static constexpr std::int64_t most_numbers = std::int64_t{1} << 31;

    /// Estimated cycles of the SM with the most CTAs, in rounds of resident CTAs. A thread has `instructions`
    /// instructions; a CTA reads and writes `traffic` bytes.
    FUSEKIT_H constexpr double cycles(int processors, double instructions, double traffic) const {
        constexpr int all_threads = 512, all_bytes = 224 * 1024;
        using TileCosts = DepthwiseHaloTileCosts;
        auto const busiest = static_cast<double>(detail::divide_up(ctas, std::int64_t{processors}));
        int const by_threads = all_threads / threads, by_bytes = all_bytes / (shared_bytes + 1024),
                  resident = (min)(by_threads, by_bytes);
        auto const rounds = static_cast<double>(detail::divide_up(ctas, std::int64_t{processors} * resident));
        double most = TileCosts::instruction * rounds * instructions;
        for (double const other : {TileCosts::all_instructions * busiest * (threads / 32) * instructions,
                                   TileCosts::byte * busiest * traffic})
            if (other > most) most = other;
        return TileCosts::launch + TileCosts::round * (rounds - 1) + most;
    }
};

}  // namespace fusekit::hip
