// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/operator.hpp"
#include "fusekit/ops/pool/reduce.hpp"
#include "fusekit/ops/pool/window.hpp"
#include "fusekit/tensor/required.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit {

namespace detail {

/// Arguments of a PoolGradient: `taps` that the Pool of MaxWithTaps wrote; none for means.
template <class Of>
struct PoolGradientArgs {};
template <class Of>
    requires writes_taps<Of>
struct PoolGradientArgs<Of> {
    Required<TensorView<int8 const, 4>, field::taps> taps;  ///< N x K x P x Q
};

template <class Of>
inline constexpr bool has_pool_gradient = writes_taps<Of> || std::same_as<Of, Average> || counts_padding<Of>;

/// Smallest extent of x for which a pool's output extent is `out`.
FUSEKIT_H constexpr Extent smallest_input(Filter<2> const& f, int mode, Extent out, bool rounds_up) {
    if (out < 1) return 0;
    Extent const begin = bounded_product(out - 1, f.strides[mode]),
                 covered = begin + f.size[mode] - f.pad_before[mode] - f.pad_after[mode];
    if (!rounds_up) return covered < 1 ? 1 : covered;
    Extent const least = covered - f.strides[mode] + 1, inside = begin - f.pad_before[mode] + 1,
                 most = least > inside ? least : inside;
    return most < 1 ? 1 : most;
}

}  // namespace detail

/// Gradient of Pool<Of, Window...>: dx[n,k,h,w] = sum over the windows (p, q) that cover (h, w) of dy[n,k,p,q] / count
/// for Average and AverageWithPadding, with the number of values that the Pool divides by; for MaxWithTaps the sum of
/// dy[n,k,p,q] whose maximum is (h, w). Each value of dx is one sum in a fixed order: results are deterministic.
///
/// Must be the first operator of its plan. x is dy, N x K x P x Q, y is dx, N x K x H x W, for any H and W that the
/// Pool maps to P and Q: a given y selects one, and a new y has the smallest. Both must be images. Arguments: none, or
/// `taps` of MaxWithTaps, as its Pool wrote them.
// clang-format off
template <class Of, auto... Window>
    requires(detail::is_window(Window...))  // a PoolGradient has the window of its Pool: 2, 2 or a filter(r, s)
            && (detail::is_possible_window(Window...))  // size and stride are 1 or more; a Pool has no dilation, no groups
            && (detail::holds_elements(Window...))  // padding is less than a Pool's window, which so holds an element
            && (detail::has_tap_numbers<Of>(Window...))  // windows of MaxWithTaps have at most 128 elements
            && (detail::has_pool_gradient<Of>)  // PoolGradient is of Average, AverageWithPadding or MaxWithTaps
// clang-format on
struct PoolGradient {
    using Forward = detail::PoolGeometry<Of, Window...>;
    using Args = detail::PoolGradientArgs<Of>;
    static constexpr auto stage = Stage::pointwise;
    static constexpr bool keeps_channels = true;
    static constexpr auto equation = detail::writes_taps<Of>
                                         ? "dx[n,k,h,w] = sum of dy[n,k,p,q] over p, q whose maximum is h, w"
                                         : "dx[n,k,h,w] = sum of dy[n,k,p,q] / count over p, q whose window has h, w";

    FUSEKIT_H static Text name() { return Forward::name("PoolGradient"); }
    FUSEKIT_H static constexpr CollapsedShape<4> output(CollapsedShape<4> dy, Args const&) {
        for (int i = 0; i < 2; ++i)
            dy[2 + i] = detail::smallest_input(Forward::geometry, i, dy[2 + i], Forward::rounds_up);
        return dy;
    }
    /// `dx`, if the Pool maps it to dy; else the smallest shape that it maps to dy.
    FUSEKIT_H static constexpr CollapsedShape<4> output(CollapsedShape<4> const& dy, Args const& args,
                                                        CollapsedShape<4> const& dx) {
        Index<4> const pooled = Forward::output(dx), given = dy;
        bool const possible =
            Forward::divides ? dx[2] % Forward::geometry.size.h == 0 && dx[3] % Forward::geometry.size.w == 0 : true;
        return pooled == given && possible ? dx : output(dy, args);
    }
    /// Names the shapes of dx in messages.
    FUSEKIT_H static Text outputs(CollapsedShape<4> const& dy, Args const& args) {
        Text const smallest = to_string(output(dy, args));
        return Forward::divides ? smallest
                                : "an x that " + Forward::name("Pool") + " maps to dy, the smallest " + smallest;
    }

    template <class Load>
    FUSEKIT_HD static constexpr typename Load::Value gather(OutputCoord const& at, Index<4> const& dy,
                                                            Index<4> const& dx, Args const& args, Load const& load) {
        using V = typename Load::Value;
        Covering const rows = covering(0, at.p, dy[2]), columns = covering(1, at.q, dy[3]);
        V sum{};
        for (Extent p = rows.first; p <= rows.last; ++p)
            for (Extent q = columns.first; q <= columns.last; ++q) {
                OutputCoord const from{at.n, at.k, p, q};
                if constexpr (detail::writes_taps<Of>) {
                    sum = sum + load.where(args.taps, from, Forward::tap(p, q, at.p, at.q));
                } else {
                    using Scalar = std::conditional_t<std::same_as<V, double>, double, float>;
                    sum = sum + load(from) * (1 / static_cast<Scalar>(Forward::window(dx, p, q).count()));
                }
            }
        return sum;
    }

    FUSEKIT_H static void check(Args const& args, Check const& in) {
        if (in.x.from.kind != CollapsedFrom::images) return in.fail("", "dy of images, N x K x P x Q", to_string(in.x));
        Index<4> const pooled = Forward::output(output(in.x, args)), dy = in.x;
        if (!(pooled == dy))
            return in.fail("", "dy of a shape that " + Forward::name("Pool") + " has", to_string(in.x));
        if constexpr (detail::writes_taps<Of>) in.readable("taps", args.taps, in.x, "N x K x P x Q");
    }

private:
    /// The outputs of the pool, from first to last, whose windows cover an element.
    struct Covering {
        Extent first, last;
    };
    FUSEKIT_HD static constexpr Covering covering(int mode, Extent element, Extent outputs) {
        constexpr Filter<2> f = Forward::geometry;
        Extent const end = element + f.pad_before[mode], begin = end - f.size[mode];
        Extent const first = begin < 0 ? 0 : begin / f.strides[mode] + 1, last = end / f.strides[mode];
        return {first, last < outputs ? last : outputs - 1};
    }
};

}  // namespace fusekit
