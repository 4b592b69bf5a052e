// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/depthwise_tiles.hpp"
#include "fusekit/backend/hip/tuning/tile_costs.hpp"

namespace fusekit::hip {

/// Kernel argument: how a DepthwisePlanes kernel divides y among CTAs and threads. A CTA computes `planes` channels of
/// an image, or `rows` rows of one channel; a thread, `thread_rows` rows of the columns of a DepthwiseShape.
/// Consecutive threads count along column groups, row groups and then planes.
struct DepthwisePlaneTiles {
    static constexpr int max_threads = 256, max_shared_bytes = 99 * 1024, packet_bytes = 16;
    /// threads of an SM: with more taps than few, they need twice the registers
    FUSEKIT_H static constexpr int resident_threads(bool few_taps) { return few_taps ? 1024 : 512; }

    FastDivmod column_groups = {}, row_groups = {}, bands = {}, plane_blocks = {};
    int planes = 1, rows = 0, thread_rows = 0, threads = 0;
    int y_offset = 0;  ///< bytes of SMEM from the CTA's part of x to its part of y
    int shared_bytes = 0;
    std::int64_t ctas = 0;

    /// Extents of the filter and of a DepthwiseShape, bytes of the elements of x and y, filters per channel of x.
    struct Numbers {
        PerMode<2> window, strides;
        int columns, x_bytes, y_bytes, multiplier;
        bool few_taps;
    };

    /// Sets the division: of at most 5 rows a thread, 8 with many taps, whose CTAs of about 128 threads have the fewest
    /// idle threads, in packets that are whole if possible. Returns false if no tile fits SMEM, or indices exceed 31
    /// bits.
    FUSEKIT_H constexpr bool choose(Numbers const& of, Index<4> const& x, Index<4> const& y) {
        constexpr int most_threads = 128, threads_of_overhead = 16;
        int const most_thread_rows = of.few_taps ? 5 : 8;
        if (y[0] * y[1] * y[2] * y[3] == 0) return false;
        if (y[3] > most_columns || x[3] > most_columns || y[1] >= most_planes || y[2] >= most_planes) return false;
        int const height = static_cast<int>(y[2]), across = divide_up_32(static_cast<int>(y[3]), of.columns);
        thread_rows = divide_up_32(height, divide_up_32(height, most_thread_rows));
        int const down = divide_up_32(height, thread_rows), at_once = most_threads / across;
        int of_part = at_once < 1 ? 1 : (min)(at_once, down);
        if (across > max_threads) return false;
        for (planes = 1;; of_part = divide_up_32(of_part, 2)) {
            rows = of_part * thread_rows;
            set_bytes(of, x, y);
            if (shared_bytes <= max_shared_bytes) break;
            if (of_part == 1) return false;
        }
        if (of_part == down) {
            double least = -1;
            int best = 1;
            for (; planes <= y[1] && planes * down * across <= (max)(most_threads, down * across); ++planes) {
                set_bytes(of, x, y);
                if (shared_bytes > max_shared_bytes) break;
                bool const whole = planes * x[2] * x[3] * of.x_bytes % packet_bytes == 0 &&
                                   planes * y[2] * y[3] * of.y_bytes % packet_bytes == 0;
                double const time = static_cast<double>(detail::divide_up(y[1], planes)) *
                                    (divide_up_32(planes * down * across, 32) * 32 + threads_of_overhead) *
                                    (whole ? 1 : DepthwisePlaneTileCosts::partial_packets);
                if (least < 0 || time < least) least = time, best = planes;
            }
            planes = best;
            set_bytes(of, x, y);
        }
        threads = divide_up_32(planes * of_part * across, 32) * 32;
        std::int64_t const blocks = detail::divide_up(y[1], planes), band_count = divide_up_32(height, rows);
        ctas = y[0] * blocks * band_count;
        column_groups = FastDivmod(static_cast<std::uint32_t>(across));
        row_groups = FastDivmod(static_cast<std::uint32_t>(of_part));
        bands = FastDivmod(static_cast<std::uint32_t>(band_count));
        plane_blocks = FastDivmod(static_cast<std::uint32_t>(blocks));
        return ctas < most_ctas;
    }

private:
    static constexpr std::int64_t most_columns = std::int64_t{1} << 14, most_planes = std::int64_t{1} << 30,
                                  most_ctas = std::int64_t{1} << 31;

    /// Sets bytes of SMEM: the CTA's parts of x and y, each from the packet of 16 bytes on in which it begins, and
    /// after x the columns right of its last row that the last thread's vectors contain.
    FUSEKIT_H constexpr void set_bytes(Numbers const& of, Index<4> const& x, Index<4> const& y) {
        auto const padded = [](std::int64_t bytes) {
            std::int64_t const all = (bytes + 2 * packet_bytes - 1) / packet_bytes * packet_bytes;
            return static_cast<int>(all < max_shared_bytes ? all : max_shared_bytes);
        };
        std::int64_t const read = std::int64_t{rows - 1} * of.strides.h + of.window.h,
                           of_x = planes > 1 || read > x[2] ? x[2] : read, of_y = rows < y[2] ? rows : y[2],
                           x_planes = planes == 1 ? 1 : (planes - 1) / of.multiplier + 2;
        std::int64_t const channels = (of.multiplier == 1 ? planes : x_planes);
        y_offset = padded(channels * of_x * x[3] * of.x_bytes);
        shared_bytes = y_offset + padded(planes * of_y * y[3] * of.y_bytes);
    }
};

}  // namespace fusekit::hip
