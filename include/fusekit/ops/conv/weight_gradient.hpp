// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/conv/geometry.hpp"
#include "fusekit/ops/conv/window.hpp"
#include "fusekit/ops/operator.hpp"

namespace fusekit {

namespace detail {

inline constexpr char const* weight_gradient_equation[] = {
    "y[k,c,s] = sum of dy[n,k,q] * x[n,c,w] over n, q", "y[k,c,r,s] = sum of dy[n,k,p,q] * x[n,c,h,w] over n, p, q",
    "y[k,c,t,r,s] = sum of dy[n,k,o,p,q] * x[n,c,d,h,w] over n, o, p, q"};

/// Stores an error in `in` if a weight gradient with this filter cannot have these arguments. `written`: the filter as
/// in source; `collapsed`: the filter with rows.
template <int Rank, int Collapsed, class Args>
FUSEKIT_H void check_weight_gradient(Filter<Rank> const& written, Filter<Collapsed> const& collapsed, Args const& args,
                                     Check const& in) {
    Index<Rank + 2> const x = expand<Rank + 2>(in.x);
    std::int64_t const k = args.dy.layout.shape[1];
    for (int i = 0; i < Rank; ++i)
        if (written.output(i, x[2 + i]) < 1 && x[2 + i] != 0)
            in.fail("filter", conv_least[Rank - 1], written.to_string() + " on " + to_string(in.x));
    if (in.type == DataType::int8) in.fail("x", "float, half, bfloat16 or double", fusekit::name(in.type));
    if (args.dy.type != in.type)
        in.fail("dy", Text(fusekit::name(in.type)) + ", as the input", fusekit::name(args.dy.type));
    if (in.x[1] % written.group_count != 0)
        in.fail("filter", "groups that divide C", written.to_string() + " with C = " + Text::number(in.x[1]));
    if (k % written.group_count != 0)
        in.fail("dy", "K divisible by the " + Text::number(written.group_count) + " groups", Text::number(k));
    in.readable("dy", args.dy, output_shape_of(collapsed, in.x, k), "N x K x P x Q");
    in.writable("bias_gradient", args.bias_gradient, {{k}}, "K");
}

}  // namespace detail

/// Gradient of Conv<Geometry> with respect to its weights:
///   dw[k,c,r,s] = sum over n, p, q of dy[n,k,p,q] *
///                 x[n, g C/G + c, p stride - pad + r dilation, q stride - pad + s dilation],  g = the group of k;
/// x is zero outside its extents, and these zeros are multiplied like any other value. The plan's x is the input of the
/// Conv, and its y is dw. Optionally also the gradient of a bias after the Conv: db[k] = sum over n, p, q of
/// dy[n,k,p,q].
///
/// Shapes: x N x C x H x W, dy N x K x P x Q, dw K x C/G x R x S; filter(s) and filter(t, r, s) as in Conv.
/// Arguments: dy, of x's element type, any strides; bias_gradient, K floats, optional.
/// Operators after a ConvWeightGradient are applied to the values dw[k,c,r,s], with k, c, r, s as the coordinates n, k,
/// p, q: Scale undoes loss scaling, and Residual with dw itself as z accumulates into dw. Only operators that depend on
/// the value and its coordinate alone are valid after it, and none before it.
/// Requires: C and K divisible by G; a filter that fits the padded input, unless the input has an extent of 0; no int8.
/// A sum over zero pixels is 0: with N = 0, dw is the operators' result for 0. Sums are accumulated in float over a few
/// hundred pixels at a time and merged in an order that depends on extents and device alone.
/// gfx90a rounds factors of type half to bfloat16 (tensor/products.hpp).
template <auto Geometry>
    requires(detail::is_geometry(
                Geometry))  // ConvWeightGradient takes a filter, as ConvWeightGradient<fk::filter(3, 3)>
            && (!std::is_same_v<decltype(Geometry), Dynamic const>)  // its filter is known to the compiler
            && (detail::is_possible(Geometry))  // size, stride, dilation and groups are 1 or more, padding 0 or more
struct ConvWeightGradient {
    static constexpr auto stage = Stage::mainloop;
    static constexpr bool of_weights = true;
    static constexpr int space = Geometry.rank;
    static constexpr auto collapsed = detail::with_rows(Geometry);
    static constexpr int collapsed_space = collapsed.rank;
    FUSEKIT_HD static constexpr auto geometry(auto const&) { return collapsed; }
    template <Element X>
    using WeightElement = X;
    static constexpr auto equation = detail::weight_gradient_equation[space - 1];
    static constexpr char const* output_modes = "K x C/groups x R x S";
    struct Args {
        Required<AnyActivations, field::dy> dy;
        OptionalView<float, 1> bias_gradient = {};
    };

    FUSEKIT_H static constexpr CollapsedShape<4> output(CollapsedShape<4> const& x, Args const& args) {
        return detail::filter_shape_of(collapsed, x, args.dy.layout.shape[1]);
    }

    FUSEKIT_H static constexpr double flops(Index<4> const& y, Args const& args) {
        Index<4> const dy = args.dy.layout.shape;
        double count = 2;
        for (std::int64_t extent : y.values) count *= static_cast<double>(extent);
        return count * static_cast<double>(dy[0]) * static_cast<double>(dy[2]) * static_cast<double>(dy[3]);
    }

    FUSEKIT_H static Text name() { return "ConvWeightGradient<" + Geometry.to_string() + ">"; }

    FUSEKIT_H static void check(Args const& args, Check const& in) {
        detail::check_weight_gradient(Geometry, collapsed, args, in);
    }
};

}  // namespace fusekit
