// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/math.hpp"
#include "fusekit/ops/operator.hpp"
#include "fusekit/tensor/filter.hpp"

namespace fusekit {

/// Maximum of a window; NaN if one value is NaN.
struct Max {
    static constexpr auto equation = "y[n,k,p,q] = max of x[n,k,h,w] over the window's h, w";
    static constexpr bool may_repeat = true;  ///< true if adding a value to the result twice changes nothing
    FUSEKIT_H static Text name() { return "Max"; }
    template <class V>
    FUSEKIT_HD static constexpr V neutral() {
        return V{} + math::detail::lowest<math::Scalar<V>>;
    }
    template <class V>
    FUSEKIT_HD static constexpr V combine(V a, V b) {
        return math::select((a > b) | (a != a), a, b);
    }
    template <class V>
    FUSEKIT_HD static constexpr V finish(V total, std::int64_t) {
        return total;
    }
};

/// Mean of a window: the sum in float, divided by the number of values.
struct Average {
    static constexpr auto equation = "y[n,k,p,q] = mean of x[n,k,h,w] over the window's h, w";
    static constexpr bool may_repeat = false;
    FUSEKIT_H static Text name() { return "Average"; }
    template <class V>
    FUSEKIT_HD static constexpr V neutral() {
        return V{};
    }
    template <class V>
    FUSEKIT_HD static constexpr V combine(V a, V b) {
        return a + b;
    }
    template <class V>
    FUSEKIT_HD static constexpr V finish(V total, std::int64_t count) {
        return total / (V{} + static_cast<math::Scalar<V>>(count));
    }
};

namespace detail {

/// Base of pools: apply() returns x unchanged.
struct Pooling {
    static constexpr auto stage = Stage::pooling;
    struct Args {};

    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return x;
    }

    /// Stores an error in `in` if the input has no elements and the output has some: windows of these outputs would
    /// have no value.
    FUSEKIT_H static void check_values(Check const& in, CollapsedShape<4> const& output) {
        if (has_no_elements(in.y) && !has_no_elements(output))
            in.fail("", "at least 1 value in each window", "values of " + to_string(in.y));
    }
};

/// Filter with the geometry of a Pool: from R and S alone, adjacent R x S windows; else the given filter.
FUSEKIT_H constexpr Filter<2> pool_window(std::int64_t rows, std::int64_t columns) {
    return filter(rows, columns).stride(rows, columns);
}
FUSEKIT_H constexpr Filter<2> pool_window(Filter<2> const& window) { return window; }

consteval bool is_window(auto const&...) { return false; }
consteval bool is_window(std::integral auto, std::integral auto) { return true; }
consteval bool is_window(Filter<2> const&) { return true; }

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

/// Elements of x that a window covers along one mode: index of the first, and their number; padding is not counted.
struct Span {
    Extent first, count;
};
FUSEKIT_HD constexpr Span span_of(Filter<2> const& f, int mode, Extent extent, Extent output) {
    Extent const begin = output * f.strides[mode] - f.pad_before[mode], end = begin + f.size[mode],
                 first = begin < 0 ? 0 : begin;
    return {first, (end < extent ? end : extent) - first};
}

}  // namespace detail

/// Max or Average over windows: y[n,k,p,q] = the Max or Average of x[n,k,h,w] over the h, w of the window of (p, q).
///
/// Pool<Max, filter(3, 3).stride(2).pad(1)>: the windows of a convolution. Padding is excluded: Average divides by the
/// number of elements of the window that are inside the image. Windows may overlap or leave gaps; no operator that
/// writes a tensor (Store) or a maximum (Amax) may precede such a Pool. Pool<Max, 2, 2>: adjacent windows of 2 x 2 that
/// partition the image; other sizes likewise.
///
/// Pool must be the last operator of its plan, because it changes the shape: x N x K x H x W, y N x K x P x Q, with P
/// and Q as of a Conv with the same filter. x must be images (two spatial modes). After a Conv only Pool<Of, 2, 2> is
/// valid. Requires: padding smaller than the window, so that every window covers an element; at least one window,
/// unless H or W is 0. For Pool<Of, R, S>: R divides H and S divides W.
///
/// If a constraint below fails, the compiler prints its line, so the comment on that line states the requirement.
template <class Of, auto... Window>
    requires(detail::is_window(Window...))  // a Pool has rows and columns, as in Pool<Max, 2, 2>, or a filter(r, s)
            &&
            (detail::is_possible_window(Window...))  // size and stride are 1 or more; a Pool has no dilation, no groups
            && (detail::holds_elements(Window...))  // padding is less than a Pool's window, which so holds an element
struct Pool : detail::Pooling {
    static constexpr Filter<2> geometry = detail::pool_window(Window...);
    static constexpr bool divides = sizeof...(Window) == 2;
    static constexpr bool fits_tile = divides && geometry.size == PerMode<2>{2, 2};
    static constexpr auto equation = Of::equation;
    using Reduce = Of;

    FUSEKIT_H static Text name() {
        Text const size = Text::number(geometry.size.h) + ", " + Text::number(geometry.size.w);
        return "Pool<" + Of::name() + ", " + (divides ? size : geometry.to_string()) + ">";
    }

    FUSEKIT_HD static constexpr PoolWindow window(Index<4> const& x, Extent p, Extent q) {
        constexpr Filter<2> f = geometry;  // nvcc's device code cannot take the address of a static member
        detail::Span const rows = detail::span_of(f, 0, x[2], p), columns = detail::span_of(f, 1, x[3], q);
        return {rows.first, columns.first, rows.count, columns.count};
    }
    FUSEKIT_H static constexpr CollapsedShape<4> output(CollapsedShape<4> x) {
        x[2] = geometry.output(0, x[2]), x[3] = geometry.output(1, x[3]);
        return x;
    }

    FUSEKIT_H static constexpr double flops(Index<4> const& y, Args const&) {
        double count = static_cast<double>(y[0]) * static_cast<double>(y[1]);
        for (int i = 0; i < 2; ++i) count *= static_cast<double>(geometry.output(i, y[2 + i])) * geometry.size[i];
        return count;
    }

    FUSEKIT_H static void check(Args const&, Check const& in) {
        bool const images = in.y.from.kind == CollapsedFrom::images;
        if (divides && (!images || in.y[2] % geometry.size.h != 0 || in.y[3] % geometry.size.w != 0))
            in.fail("",
                    "images that windows of " + Text::number(geometry.size.h) + " x " + Text::number(geometry.size.w) +
                        " divide",
                    to_string(in.y));
        else if (!images || (output(in.y)[2] < 1 && in.y[2] != 0) || (output(in.y)[3] < 1 && in.y[3] != 0))
            in.fail("", "images, and an output of at least 1 x 1", to_string(in.y));
        else check_values(in, output(in.y));
    }
};

/// y[n,k,0,0] = mean of x[n,k,h,w] over h, w
///
/// GlobalAverage must be the last operator of its plan, because it changes the shape: x N x K x H x W, y N x K x 1 x 1.
/// Requires: H and W of at least 1, unless N or K is 0.
struct GlobalAverage : detail::Pooling {
    static constexpr bool divides = true, fits_tile = false;
    static constexpr auto equation = "y[n,k] = mean of x[n,k,p,q] over p, q";
    using Reduce = Average;

    FUSEKIT_HD static constexpr PoolWindow window(Index<4> const& x, Extent, Extent) { return {0, 0, x[2], x[3]}; }
    FUSEKIT_H static constexpr CollapsedShape<4> output(CollapsedShape<4> x) {
        x[2] = x[3] = x.from.count = 1;
        return x;
    }

    FUSEKIT_H static void check(Args const&, Check const& in) { check_values(in, output(in.y)); }
};

}  // namespace fusekit
