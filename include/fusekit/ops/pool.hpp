// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"
#include "fusekit/ops/pool/reduce.hpp"
#include "fusekit/ops/pool/window.hpp"
#include "fusekit/tensor/required.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit {

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

/// Arguments of a Pool: those of MaxWithTaps are `taps`, to which it writes.
template <class Of>
struct PoolArgs {};
template <class Of>
    requires writes_taps<Of>
struct PoolArgs<Of> {
    Required<TensorView<int8, 4>, field::taps> taps;  ///< N x K x P x Q
};

}  // namespace detail

/// Max or Average over windows: y[n,k,p,q] = the Max or Average of x[n,k,h,w] over the h, w of the window of (p, q).
///
/// Pool<Max, filter(3, 3).stride(2).pad(1)>: the windows of a convolution. Padding is excluded: Average divides by the
/// number of elements of the window that are inside the image; AverageWithPadding also counts those in the padding.
/// Windows may overlap or leave gaps; no operator that writes a tensor (Store) or a maximum (Amax) may precede such a
/// Pool. Pool<Max, filter(3, 3).stride(2), ceil_mode>: P and Q rounded up. Pool<Max, 2, 2>: adjacent windows of 2 x 2
/// that partition the image; other sizes likewise. Pool<MaxWithTaps, ...> also writes positions of maxima, for
/// PoolGradient.
///
/// Pool must be the last operator of its plan, because it changes the shape: x N x K x H x W, y N x K x P x Q, with P
/// and Q as of a Conv with the same filter. Arguments: none, or `taps` of MaxWithTaps, N x K x P x Q. x must be images
/// (two spatial modes). After a Conv only Pool<Of, 2, 2> is valid. Requires: padding smaller than the window, so that
/// every window covers an element; at least one window, unless H or W is 0. For Pool<Of, R, S>: R divides H and S
/// divides W.
///
/// If a constraint below fails, the compiler prints its line, so the comment on that line states the requirement.
// clang-format off
template <class Of, auto... Window>
    requires(detail::is_window(Window...))  // a Pool has rows and columns, as in Pool<Max, 2, 2>, or a filter(r, s)
            && (detail::is_possible_window(Window...))  // size and stride are 1 or more; a Pool has no dilation, no groups
            && (detail::holds_elements(Window...))  // padding is less than a Pool's window, which so holds an element
            && (detail::has_tap_numbers<Of>(Window...))  // windows of MaxWithTaps have at most 128 elements
// clang-format on
struct Pool : detail::Pooling, detail::PoolGeometry<Of, Window...> {
    using Windows = detail::PoolGeometry<Of, Window...>;
    using Windows::divides, Windows::geometry, Windows::output;
    static constexpr bool writes_taps = detail::writes_taps<Of>;
    static constexpr bool fits_tile = divides && geometry.size == PerMode<2>{2, 2};
    static constexpr auto equation = Of::equation;
    using Reduce = Of;
    using Args = detail::PoolArgs<Of>;

    FUSEKIT_H static Text name() { return Windows::name("Pool"); }
    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return x;
    }
    /// Stores the number of the tap at which output (n, k, p, q) has its maximum.
    FUSEKIT_HD static constexpr void store_tap(Args const& args, Index<4> const& output, int tap)
        requires writes_taps
    {
        int8 number{};
        number.value = static_cast<std::int8_t>(tap);
        args.taps(output[0], output[1], output[2], output[3]) = number;
    }

    FUSEKIT_H static constexpr double flops(Index<4> const& y, Args const&) {
        double count = static_cast<double>(y[0]) * static_cast<double>(y[1]);
        for (int i = 0; i < 2; ++i)
            count *= static_cast<double>(Windows::output_extent(i, y[2 + i])) * geometry.size[i];
        return count;
    }

    FUSEKIT_H static void check(Args const& args, Check const& in) {
        bool const images = in.y.from.kind == CollapsedFrom::images;
        if (divides && (!images || in.y[2] % geometry.size.h != 0 || in.y[3] % geometry.size.w != 0))
            in.fail("",
                    "images that windows of " + Text::number(geometry.size.h) + " x " + Text::number(geometry.size.w) +
                        " divide",
                    to_string(in.y));
        else if (!images || (output(in.y)[2] < 1 && in.y[2] != 0) || (output(in.y)[3] < 1 && in.y[3] != 0))
            in.fail("", "images, and an output of at least 1 x 1", to_string(in.y));
        else check_values(in, output(in.y));
        if constexpr (writes_taps)
            if (!in.refused()) in.writable("taps", args.taps, output(in.y), "N x K x P x Q");
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
