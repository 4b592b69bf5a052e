// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/ops/operator.hpp"
#include "fusekit/tensor/filter.hpp"

namespace fusekit {

namespace detail {

template <class T>
consteval bool is_geometry(T) {
    return std::is_same_v<T, Filter<2>> || std::is_same_v<T, Dynamic>;
}

consteval bool is_possible(auto) { return true; }
consteval bool is_possible(Filter<2> const& f) {
    for (int i = 0; i < 2; ++i)
        if (f.size[i] < 1 || f.step[i] < 1 || f.spread[i] < 1 || f.before[i] < 0 || f.after[i] < 0) return false;
    return f.group_count >= 1;
}

/// The filter's geometry is part of the type; the arguments are the weights alone.
template <auto Geometry>
struct ConvArgs {
    struct Args {
        AnyView<4> weights;
    };
    static constexpr bool may_be_grouped = Geometry.group_count > 1;
    static constexpr bool may_be_padded = Geometry.before != PerMode<2>{0, 0} || Geometry.after != PerMode<2>{0, 0};
    static constexpr bool may_be_single_pixels = is_single_pixels(Geometry);
    static constexpr int longest = Geometry.size.h > Geometry.size.w ? Geometry.size.h : Geometry.size.w;
    FUSEKIT_HD static constexpr Filter<2> geometry(Args const&) { return Geometry; }
    static Text name() { return "Conv<" + Geometry.to_string() + ">"; }
};

template <>
struct ConvArgs<dynamic> {
    struct Args {
        AnyView<4> weights;
        Filter<2> filter;
    };
    static constexpr bool may_be_grouped = true;
    static constexpr bool may_be_padded = true;
    static constexpr bool may_be_single_pixels = true;
    static constexpr int longest = 1 << 30;  ///< rows or columns of the filter, at most
    FUSEKIT_HD static constexpr Filter<2> geometry(Args const& args) { return args.filter; }
    static Text name() { return "Conv<dynamic>"; }
};

}  // namespace detail

/// y[n,k,p,q] = sum over c, r, s of x[n, g C/G + c, p stride - pad + r dilation, q stride - pad + s dilation] *
///              weights[k, c, r, s],  g = the group of k; x is zero outside its extents.
///
/// Shapes: x N x C x H x W, weights K x C/G x R x S, y N x K x P x Q,
///         P = floor((H + top + bottom - dilation (R - 1) - 1) / stride) + 1, Q alike.
/// Arguments: weights, of x's type, any strides; with Conv<dynamic> also filter, the geometry.
/// Requires: C and K divisible by the groups; a filter that fits the padded input.
/// Source: the cross-correlation that deep learning calls convolution; Dumoulin and Visin 2016, section 2.
///
/// Compilers quote the line of a requirement that does not hold, and with it the reason.
template <auto Geometry>
    requires(detail::is_geometry(Geometry))  // Conv takes a filter, as in Conv<fk::filter(3, 3)>, or fk::dynamic
            && (detail::is_possible(Geometry))  // size, stride, dilation and groups are 1 or more, padding 0 or more
struct Conv : detail::ConvArgs<Geometry> {
    static constexpr auto stage = Stage::convolution;
    static constexpr auto equation = "y[n,k,p,q] = sum of x[n,c,h,w] * weights[k,c,r,s] over c, r, s";
    using Args = typename detail::ConvArgs<Geometry>::Args;

    FUSEKIT_HD static constexpr Index<4> output(Index<4> const& x, Args const& args) {
        Filter<2> const f = Conv::geometry(args);
        return {{x[0], args.weights.layout.shape[0], f.output(0, x[2]), f.output(1, x[3])}};
    }

    static constexpr double flops(Index<4> const& y, Args const& args) {
        Index<4> const w = args.weights.layout.shape;
        return 2.0 * y[0] * y[1] * y[2] * y[3] * w[1] * w[2] * w[3];
    }

    static void check(Args const& args, Check const& in) {
        Filter<2> const f = Conv::geometry(args);
        in.require(f.group_count >= 1, "filter", "1 group or more", f.group_count);
        for (int i = 0; i < 2; ++i) {
            in.require(f.size[i] >= 1, "filter", "a size of 1 or more", f.size[i]);
            in.require(f.step[i] >= 1, "filter", "a stride of 1 or more", f.step[i]);
            in.require(f.spread[i] >= 1, "filter", "a dilation of 1 or more", f.spread[i]);
            in.require(f.before[i] >= 0, "filter", "padding of 0 or more", f.before[i]);
            in.require(f.after[i] >= 0, "filter", "padding of 0 or more", f.after[i]);
            if (f.output(i, in.x[2 + i]) < 1)
                in.fail("filter", "an output of at least 1 x 1", f.to_string() + " on " + to_string(in.x));
        }
        if (args.weights.type != in.type)
            in.fail("weights", Text(fusekit::name(in.type)) + ", as the input", fusekit::name(args.weights.type));
        std::int64_t const k = args.weights.layout.shape[0];
        if (in.x[1] % f.group_count != 0 || k % f.group_count != 0)
            in.fail("filter", "groups that divide C and K",
                    f.to_string() + " with C = " + Text::number(in.x[1]) + ", K = " + Text::number(k));
        in.readable("weights", args.weights, {{k, in.x[1] / f.group_count, f.size[0], f.size[1]}},
                    "K x C/groups x R x S");
    }
};

}  // namespace fusekit
