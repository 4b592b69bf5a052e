// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/ops/conv/geometry.hpp"
#include "fusekit/ops/conv/window.hpp"
#include "fusekit/ops/operator.hpp"
#include "fusekit/tensor/products.hpp"

namespace fusekit {

namespace detail {

inline constexpr char const* conv_equation[] = {
    "y[n,k,q] = sum of x[n,c,w] * weights[k,c,s] over c, s",
    "y[n,k,p,q] = sum of x[n,c,h,w] * weights[k,c,r,s] over c, r, s",
    "y[n,k,o,p,q] = sum of x[n,c,d,h,w] * weights[k,c,t,r,s] over c, t, r, s"};

/// Args of a Conv whose filter geometry is a template argument: the weights alone.
template <auto Geometry>
struct ConvArgs {
    static constexpr int space = Geometry.rank;
    struct Args {
        Required<Collapsed<AnyView<4>, space + 2>, field::weights> weights;
    };
    static constexpr auto collapsed = with_rows(Geometry);
    static constexpr int collapsed_space = collapsed.rank;
    static constexpr bool may_be_grouped = Geometry.group_count > 1;
    static constexpr bool may_be_padded = Geometry.pad(0) != Geometry;
    static constexpr bool may_be_single_pixels = is_single_pixels(Geometry);
    static constexpr int longest = longest_of(Geometry);
    FUSEKIT_HD static constexpr auto geometry(Args const&) { return collapsed; }
    FUSEKIT_HD static constexpr auto const& filters(Args const& args) { return args.weights; }
    FUSEKIT_H static Text written(Args const&) { return Geometry.to_string(); }
    FUSEKIT_H static Text geometry_name() { return Geometry.to_string(); }
};

template <>
struct ConvArgs<dynamic> {
    static constexpr int space = 2, collapsed_space = 2;
    /// Type of the argument `filter` of Conv<dynamic>: a filter without a default, so that code that leaves it out does
    /// not compile.
    struct GivenFilter : Filter<2> {
        template <class = void>
        GivenFilter() = delete;  // the argument filter is left out: give .filter = fk::filter(r, s) after .weights
        FUSEKIT_H constexpr GivenFilter(Filter<2> const& filter) : Filter<2>(filter) {}
        template <int Rank>
            requires(Rank != 2)
        FUSEKIT_H constexpr GivenFilter(Filter<Rank> const&) : Filter<2>{} {
            static_assert(Rank == 2, "Conv<fk::dynamic> is of images: its filter is a fk::filter(r, s)");
        }
    };
    struct Args {
        Required<Collapsed<AnyView<4>, 4>, field::weights> weights;
        GivenFilter filter;
    };
    static constexpr bool may_be_grouped = true;
    static constexpr bool may_be_padded = true;
    static constexpr bool may_be_single_pixels = true;
    /// upper bound of the filter's size in one mode; the size itself is a run-time argument
    static constexpr int longest = 1 << 30;
    FUSEKIT_HD static constexpr Filter<2> geometry(Args const& args) { return args.filter; }
    FUSEKIT_HD static constexpr auto const& filters(Args const& args) { return args.weights; }
    FUSEKIT_H static Text written(Args const& args) { return args.filter.to_string(); }
    FUSEKIT_H static Text geometry_name() { return "dynamic"; }
};

}  // namespace detail

/// y[n,k,p,q] = sum over c, r, s of x[n, g C/G + c, p stride - pad + r dilation, q stride - pad + s dilation] *
///              weights[k, c, r, s],  g = the group of k; x is zero outside its extents.
/// The padding's zeros are multiplied like any other value: on every path, an infinite or NaN weight times padding
/// gives NaN.
///
/// Shapes: x N x C x H x W, weights K x C/G x R x S, y N x K x P x Q,
///         P = floor((H + top + bottom - dilation (R - 1) - 1) / stride) + 1, Q likewise.
/// filter(s): x N x C x W, weights K x C/G x S, y N x K x Q. filter(t, r, s): x N x C x D x H x W, weights K x C/G x T
/// x R x S, y N x K x O x P x Q, summed over t too.
/// Arguments: weights, of x's type or, with Conv<..., Weights<T>>, of T, any strides (for filter(t, r, s): stride[T] =
/// R stride[R]); with Conv<dynamic> also filter, the geometry of R x S.
/// Requires: C and K divisible by G; a filter that fits the padded input, unless the input has an extent of 0; with
/// int8, which is accumulated exactly in int32, at most 131071 products (C/G R S) per output. Extents of 0 are valid:
/// an empty y is not written, and with C = 0 the sums are 0. Source: the cross-correlation that deep learning calls
/// convolution; Dumoulin and Visin 2016, section 2.
///
/// If a constraint below fails, the compiler prints its line, so the comment on that line states the requirement.
template <auto Geometry, class Option = void>
    requires(detail::is_geometry(Geometry))  // Conv takes a filter, as in Conv<fk::filter(3, 3)>, or fk::dynamic
            && (detail::is_possible(Geometry))  // size, stride, dilation and groups are 1 or more, padding 0 or more
            && (detail::HeadOption<Option>::is_valid)  // the option of a Conv is Weights<T> or Products<T>
struct Conv : detail::ConvArgs<Geometry> {
    static constexpr auto stage = Stage::mainloop;
    template <Element X>
    using WeightElement = typename detail::HeadOption<Option>::template Element<X>;
    using FloatFactor = typename detail::HeadOption<Option>::Factor;
    static constexpr auto equation = detail::conv_equation[Conv::space - 1];
    using Args = typename detail::ConvArgs<Geometry>::Args;

    FUSEKIT_H static constexpr CollapsedShape<4> output(CollapsedShape<4> const& x, Args const& args) {
        return detail::output_shape_of(Conv::geometry(args), x, args.weights.layout.shape[0]);
    }

    FUSEKIT_H static constexpr double flops(Index<4> const& y, Args const& args) {
        Index<4> const w = args.weights.layout.shape;
        double count = 2;
        for (std::int64_t extent : y.values) count *= static_cast<double>(extent);
        for (int mode = 1; mode < 4; ++mode) count *= static_cast<double>(w[mode]);
        return count;
    }

    FUSEKIT_H static Text name() {
        Text const option = detail::HeadOption<Option>::written();
        return "Conv<" + Conv::geometry_name() + (option.empty() ? "" : ", ") + option + ">";
    }

    FUSEKIT_H static void check(Args const& args, Check const& in) {
        auto const f = Conv::geometry(args);
        in.require(f.group_count >= 1, "filter", "1 group or more", f.group_count);
        Index<f.rank + 2> const x = detail::expand<f.rank + 2>(in.x);
        for (int i = 0; i < f.rank; ++i) {
            in.require(f.size[i] >= 1, "filter", "a size of 1 or more", f.size[i]);
            in.require(f.strides[i] >= 1, "filter", "a stride of 1 or more", f.strides[i]);
            in.require(f.dilations[i] >= 1, "filter", "a dilation of 1 or more", f.dilations[i]);
            in.require(f.pad_before[i] >= 0, "filter", "padding of 0 or more", f.pad_before[i]);
            in.require(f.pad_after[i] >= 0, "filter", "padding of 0 or more", f.pad_after[i]);
            if (f.output(i, x[2 + i]) < 1 && x[2 + i] != 0)
                in.fail("filter", detail::conv_least[Conv::space - 1], Conv::written(args) + " on " + to_string(in.x));
        }
        detail::check_weights<Option>(args.weights.type, in);
        if (in.refused()) return;  // groups of 0 would divide by zero
        std::int64_t const k = args.weights.layout.shape[0];
        detail::check_groups(f, args.weights.layout.shape, [&] { return Conv::written(args); }, in);
        CollapsedShape<4> const weights = detail::filter_shape_of(f, in.x, k);
        in.readable("weights", args.weights, weights, "K x C/groups x R x S", Access::read, true);
        std::int64_t const products = detail::extent_product(weights[1], weights[2] * weights[3]);
        detail::check_products(products, in,
                               [&] { return products < 0 ? to_string(weights) : Text::number(products); });
    }
};

}  // namespace fusekit
