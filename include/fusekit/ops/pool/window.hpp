// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

#include "fusekit/ops/operator.hpp"
#include "fusekit/ops/pool/reduce.hpp"
#include "fusekit/tensor/filter.hpp"

namespace fusekit {

/// Third argument of a Pool with a filter: P and Q are rounded up, so that the last window may begin inside the image
/// and end beyond its padding. A window that would begin in the padding after the image is left out.
struct CeilMode {};
inline constexpr CeilMode ceil_mode{};

namespace detail {

/// Filter with the geometry of a Pool: from R and S alone, adjacent R x S windows; else the given filter.
FUSEKIT_H constexpr Filter<2> pool_window(std::int64_t rows, std::int64_t columns) {
    return filter(rows, columns).stride(rows, columns);
}
FUSEKIT_H constexpr Filter<2> pool_window(Filter<2> const& window) { return window; }
FUSEKIT_H constexpr Filter<2> pool_window(Filter<2> const& window, CeilMode) { return window; }

consteval bool is_window(auto const&...) { return false; }
consteval bool is_window(std::integral auto, std::integral auto) { return true; }
consteval bool is_window(Filter<2> const&) { return true; }
consteval bool is_window(Filter<2> const&, CeilMode) { return true; }

consteval bool is_possible_window(auto... window) {
    Filter<2> const f = pool_window(window...);
    for (int i = 0; i < 2; ++i)
        if (f.size[i] < 1 || f.strides[i] < 1 || f.pad_before[i] < 0 || f.pad_after[i] < 0) return false;
    return f.dilations == PerMode<2>{1, 1} && f.group_count == 1;
}
consteval bool holds_elements(auto... window) {
    Filter<2> const f = pool_window(window...);
    for (int i = 0; i < 2; ++i)
        if (f.pad_before[i] >= f.size[i] || f.pad_after[i] >= f.size[i]) return false;
    return true;
}

template <class Of>
consteval bool has_tap_numbers(auto... window) {
    Filter<2> const f = pool_window(window...);
    return !writes_taps<Of> || f.size.h * std::int64_t{f.size.w} <= 128;
}

/// Elements of x that a window covers along one mode: index of the first, their number, and the number of the window's
/// elements in the padding, without those beyond it.
struct Span {
    Extent first, count, padding;
};
FUSEKIT_HD constexpr Span span_of(Filter<2> const& f, int mode, Extent extent, Extent output) {
    Extent const begin = output * f.strides[mode] - f.pad_before[mode], end = begin + f.size[mode],
                 first = begin < 0 ? 0 : begin, padded = extent + f.pad_after[mode],
                 count = (end < extent ? end : extent) - first;
    return {first, count, (end < padded ? end : padded) - begin - count};
}

/// Output extent of a pool's window, rounded up: the largest for which the last window begins before the end of x.
FUSEKIT_H constexpr Extent rounded_up_output(Filter<2> const& f, int mode, Extent extent) {
    Extent const last = extent + f.pad_before[mode] + f.pad_after[mode] - f.size[mode] + f.strides[mode] - 1;
    if (last < 0) return 0;
    Extent const output = last / f.strides[mode] + 1;
    return (output - 1) * f.strides[mode] >= extent + f.pad_before[mode] ? output - 1 : output;
}

/// Geometry of Pool<Of, Window...>: the window of each output, and the extents of the output.
template <class Of, auto... Window>
struct PoolGeometry {
    static constexpr Filter<2> geometry = pool_window(Window...);
    static constexpr bool divides = (std::integral<decltype(Window)> && ...);
    static constexpr bool rounds_up = !divides && sizeof...(Window) == 2;

    FUSEKIT_H static Text name(char const* op) {
        Text const size = Text::number(geometry.size.h) + ", " + Text::number(geometry.size.w);
        return Text(op) + "<" + Of::name() + ", " + (divides ? size : geometry.to_string()) +
               (rounds_up ? ", ceil_mode>" : ">");
    }

    FUSEKIT_HD static constexpr PoolWindow window(Index<4> const& x, Extent p, Extent q) {
        constexpr Filter<2> f = geometry;  // nvcc's device code cannot take the address of a static member
        Span const rows = span_of(f, 0, x[2], p), columns = span_of(f, 1, x[3], q);
        if constexpr (!counts_padding<Of>) return {rows.first, columns.first, rows.count, columns.count};
        else return {rows.first, columns.first, rows.count, columns.count, rows.padding, columns.padding};
    }
    /// Number of the tap of output (p, q) that reads element (h, w): r S + s.
    FUSEKIT_HD static constexpr int tap(Extent p, Extent q, Extent h, Extent w) {
        constexpr Filter<2> f = geometry;
        return static_cast<int>((h - p * f.strides.h + f.pad_before.h) * f.size.w + w - q * f.strides.w +
                                f.pad_before.w);
    }
    FUSEKIT_H static constexpr Extent output_extent(int mode, Extent extent) {
        return rounds_up ? rounded_up_output(geometry, mode, extent) : geometry.output(mode, extent);
    }
    FUSEKIT_H static constexpr CollapsedShape<4> output(CollapsedShape<4> x) {
        x[2] = output_extent(0, x[2]), x[3] = output_extent(1, x[3]);
        return x;
    }
};

}  // namespace detail

}  // namespace fusekit
