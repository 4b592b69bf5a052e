// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/hip/arch/list.hpp"
#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/tensor/filter.hpp"
#include "fusekit/tensor/layout.hpp"

namespace fusekit::hip {

/// Type of a filter for a Depthwise kernel: R x S taps whose size and strides are compile-time constants; dilation 1.
template <int R, int S, int StrideH, int StrideW>
struct UnrolledWindow {
    static constexpr int rows = R, columns = S, stride_h = StrideH, stride_w = StrideW, taps = R * S;
    /// number of windows, of consecutive rows of y, that read the same row of x
    static constexpr int depth = (R + StrideH - 1) / StrideH;

    FUSEKIT_H static constexpr bool accepts(Filter<2> const& filter) {
        return filter.size == PerMode<2>{R, S} && filter.strides == PerMode<2>{StrideH, StrideW} &&
               filter.dilations == PerMode<2>{1, 1};
    }
};
/// Type of the filter of a transposed convolution with a stride, for a Depthwise kernel: R x S taps, and Left columns
/// of padding on the left of y, as compile-time constants; dilation 1. One element of x is part of R x S outputs.
template <int R, int S, int StrideH, int StrideW, int Left>
struct SpreadWindow {
    static constexpr int rows = R, columns = S, stride_h = StrideH, stride_w = StrideW, left = Left, taps = R * S;
    /// number of blocks, of StrideH consecutive rows of y, to which one row of x contributes
    static constexpr int depth = (R + StrideH - 1) / StrideH;

    FUSEKIT_H static constexpr bool accepts(Filter<2> const&) { return true; }

    /// Columns of x that `count` columns of y, from column q on, read; q and `count` are multiples of StrideW:
    /// width(count) columns from q / StrideW - before(count) on, among them q / StrideW to (q + count) / StrideW - 1.
    FUSEKIT_H static constexpr int before() {
        int const reach = S - 1 - Left;
        return reach > 0 ? reach / StrideW : 0;
    }
    FUSEKIT_H static constexpr int width(int count) { return before() + (count - 1 + Left) / StrideW + 1; }
    /// reads(): true if tap s of column q + j of y reads an element of x. column(): index of that element's column
    /// among the columns that the thread reads.
    FUSEKIT_HD static constexpr bool reads(int j, int s) { return (j + Left - s) % StrideW == 0; }
    FUSEKIT_HD static constexpr int column(int j, int s) { return (j + Left - s) / StrideW + before(); }
};
/// Type of a filter for a Depthwise kernel that reads its size, strides and dilations at run time.
struct AnyWindow {
    static constexpr int rows = 1, stride_h = 1, taps = 0;

    FUSEKIT_H static constexpr bool accepts(Filter<2> const&) { return true; }
};

/// Outputs of y that one thread of a Depthwise kernel computes in each row: `channels` consecutive channels of
/// `columns` consecutive pixels. Elements of x have `bytes` bytes, and y is contiguous along `fast`.
template <class Window, int bytes, detail::Axis fast>
struct DepthwiseShape {
    static constexpr bool along_channels = fast == detail::Axis::channel;
    static constexpr int channels = along_channels && Window::taps <= 9 ? 2 : 1;

    /// Number of registers of a thread that computes `count` columns: accumulators, weights, and the current and the
    /// next row of x.
    FUSEKIT_H static constexpr int registers(int count) {
        int const elements = ((count - 1) * Window::stride_w + Window::columns) * channels;
        int const words =
            along_channels ? (bytes * channels + 3) / 4 * elements / channels : (elements * bytes + 3) / 4;
        return Window::taps * channels + Window::depth * count * channels + elements + Window::stride_h * words;
    }
    /// limit on registers(): of a thread's 128, the rest is for addresses, masks and the epilogue, which need more on
    /// AMD
    static constexpr int max_registers = (Window::stride_h > 1 ? 90 : 98) - (arch::is_targeted<arch::Amd> ? 32 : 0);

    FUSEKIT_H static constexpr int widest() {
        int const most = along_channels ? 7 : bytes == 4 || Window::stride_w > 1 ? 4 : 8;
        return registers(most) > max_registers ? 4 : most;
    }
    static constexpr int columns = widest();
    static constexpr bool fits = registers(columns) <= max_registers;
};
template <int R, int S, int StrideH, int StrideW, int Left, int bytes, detail::Axis fast>
struct DepthwiseShape<SpreadWindow<R, S, StrideH, StrideW, Left>, bytes, fast> {
    using Window = SpreadWindow<R, S, StrideH, StrideW, Left>;
    static constexpr bool along_channels = fast == detail::Axis::channel;
    static constexpr int channels = along_channels && Window::taps <= 9 ? 2 : 1;

    FUSEKIT_H static constexpr int registers(int count) {
        int const elements = Window::width(count) * channels;
        return Window::taps * channels + R * count * channels + elements + (elements * bytes + 3) / 4;
    }
    /// limits on registers() with half of the columns and with all; with all, gfx908's epilogues spill above the lower
    /// limit. max_columns: bits of a column mask
    static constexpr int max_registers = 90, max_registers_of_all = arch::is_targeted<arch::Amd> ? 70 : 84,
                         max_columns = 32;
    FUSEKIT_H static constexpr int widest() {
        int const most = StrideW != 3 ? 8 : along_channels ? 6 : 12;
        return registers(most) > max_registers_of_all && most % (2 * StrideW) == 0 ? most / 2 : most;
    }
    static constexpr int columns = widest();
    static constexpr bool fits =
        registers(columns) <= max_registers && Window::width(columns) <= max_columns && columns >= 4;
};
template <int bytes, detail::Axis fast>
struct DepthwiseShape<AnyWindow, bytes, fast> {
    static constexpr bool along_channels = fast == detail::Axis::channel, fits = true;
    static constexpr int channels = along_channels ? 2 : 1, columns = 4;
    static constexpr int rows = 2;  ///< rows of y for which a thread loads each weight once
};

namespace detail {

/// Largest power of two of elements of `bytes` bytes that is at most 16 bytes and divides `count`.
FUSEKIT_HD constexpr int widest_vector(int bytes, int count) {
    int most = 16 / bytes;
    while (count % most != 0) most /= 2;
    return most;
}

template <class Window, int bytes>
inline constexpr bool window_fits =
    DepthwiseShape<Window, bytes, Axis::channel>::fits && DepthwiseShape<Window, bytes, Axis::pixel>::fits;

/// True if a filter is small enough for a window type of its own.
FUSEKIT_H constexpr bool is_small_window(Filter<2> const& filter) {
    return filter.size[0] <= 9 && filter.size[1] <= 9 && filter.strides[0] <= 4 && filter.strides[1] <= 4 &&
           filter.dilations == PerMode<2>{1, 1};
}

/// Type: list of the filter types for which a plan has Depthwise kernels; the last one accepts every filter of the
/// plan. Empty if the plan has none.
template <class Head, int bytes>
struct DepthwiseWindows {
    template <int size, int stride>
    using Window = UnrolledWindow<size, size, stride, stride>;
    template <int size, int stride>
    using Fitting = std::conditional_t<window_fits<Window<size, stride>, bytes>, List<Window<size, stride>>, List<>>;
    using Type = JoinedList<Fitting<3, 1>, Fitting<3, 2>, Fitting<5, 1>, Fitting<5, 2>, Fitting<7, 1>, List<AnyWindow>>;
};
template <class Head, int bytes>
    requires requires { Head::collapsed; }
struct DepthwiseWindows<Head, bytes> {
    static constexpr auto filter = Head::collapsed;

    FUSEKIT_H static consteval auto list() {
        using Window = UnrolledWindow<filter.size[0], filter.size[1], filter.strides[0], filter.strides[1]>;
        if constexpr (!is_small_window(filter)) return List<AnyWindow>{};
        else if constexpr (!window_fits<Window, bytes>) return List<AnyWindow>{};
        else return List<Window>{};
    }
    using Type = decltype(list());
};
/// Transposed convolutions: with strides of 1, windows over x with the taps in reverse order; else SpreadWindows.
template <class Head, int bytes>
    requires requires { Head::filter; }
struct DepthwiseWindows<Head, bytes> {
    static constexpr auto filter = Head::filter;

    FUSEKIT_H static consteval auto list() {
        constexpr bool spreads = filter.strides != PerMode<2>{1, 1};
        using Spread =
            SpreadWindow<filter.size[0], filter.size[1], filter.strides[0], filter.strides[1], filter.pad_before[1]>;
        using Window = UnrolledWindow<filter.size[0], filter.size[1], 1, 1>;
        using Other = std::conditional_t<spreads, List<>, List<AnyWindow>>;
        if constexpr (!is_small_window(filter)) return Other{};
        else if constexpr (!window_fits<std::conditional_t<spreads, Spread, Window>, bytes>) return Other{};
        else return List<std::conditional_t<spreads, Spread, Window>>{};
    }
    using Type = decltype(list());
};

}  // namespace detail

/// List of the filter types for which a plan has Depthwise kernels.
template <class Head, int bytes>
using WindowsOf = typename detail::DepthwiseWindows<Head, bytes>::Type;

/// Calls f(Window{}) with the filter type of index `number` in a list; with the only one of a list of one.
template <class... Window, class F>
__device__ void with_window(List<Window...>, [[maybe_unused]] int number, F const& f) {
    if constexpr (sizeof...(Window) == 1) {
        (f(Window{}), ...);
    } else {
        int index = 0;
        static_cast<void>(((index++ == number && (f(Window{}), true)) || ...));
    }
}

/// Kernel argument: how a Depthwise kernel divides y among threads. A thread computes `rows` rows of a DepthwiseShape's
/// columns and channels. Thread indices run along `inner` fastest, then `middle`, `outer` and images; these are
/// channels, columns and rows if y is channels-last, otherwise columns, rows and channels.
struct DepthwiseTiles {
    FastDivmod inner = {}, middle = {}, outer = {};
    unsigned items = 0;  ///< number of threads with outputs
    int threads = 0;  ///< threads per CTA
    int rows = 1;
    int window = 0;  ///< index of the filter type in WindowsOf
    /// elements per load of x and per store of y along y's contiguous mode; 1 if layout or alignment permits no vectors
    int x_vector = 1, y_vector = 1;
    int multiplier = 1;  ///< filters per channel of x
    bool dense_weights = false;  ///< true if the taps of a filter are contiguous, and filter follows filter

    /// Returns the number of rows of y per thread with the least estimated time: rounds of resident threads, times the
    /// rows of x that a thread loads. `others`: threads per row of y; `resident`: threads that run concurrently.
    FUSEKIT_H static constexpr int best_rows(std::int64_t height, std::int64_t others, std::int64_t resident,
                                             int window_rows, int stride) {
        constexpr int most = 64, start = 4;  // start: latency of a thread's first loads, in rows
        int best = 1;
        std::int64_t least = -1;
        for (int rows = 1; rows <= most && rows <= height; ++rows) {
            std::int64_t const waves = detail::divide_up(others * detail::divide_up(height, rows), resident),
                               time = waves * (rows * stride + window_rows + start);
            if (least < 0 || time < least) best = rows, least = time;
        }
        return best;
    }
};

}  // namespace fusekit::hip
