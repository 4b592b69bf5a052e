// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/ops/conv/geometry.hpp"
#include "fusekit/ops/conv/window.hpp"
#include "fusekit/ops/operator.hpp"
#include "fusekit/tensor/products.hpp"

namespace fusekit {

namespace detail {

inline constexpr char const* transposed_equation[] = {
    "y[n,c,w] = sum of x[n,k,q] * weights[k,c,s] over k, s",
    "y[n,c,h,w] = sum of x[n,k,p,q] * weights[k,c,r,s] over k, r, s",
    "y[n,c,d,h,w] = sum of x[n,k,o,p,q] * weights[k,c,t,r,s] over k, t, r, s"};

template <int Rank>
consteval bool has_strides(Filter<Rank> const& f) {
    for (int i = 0; i < Rank; ++i)
        if (f.strides[i] != 1) return true;
    return false;
}

/// Largest and smallest input extent in one mode for which the filter's output extent is `out`; 0 if there is none. The
/// smallest for an `out` of 0 is 0.
template <int Rank>
FUSEKIT_H constexpr Extent max_input(Filter<Rank> const& f, int mode, Extent out) {
    Extent const covered = Extent{f.dilations[mode]} * (f.size[mode] - 1) + 1,
                 beyond = covered - 1 - f.pad_before[mode] - f.pad_after[mode];
    Extent most = 0;
    bool const fits = !mul_overflows(out, Extent{f.strides[mode]}, most) && !add_overflows(most, beyond, most);
    return fits && most > 0 ? most : 0;
}
template <int Rank>
FUSEKIT_H constexpr Extent min_input(Filter<Rank> const& f, int mode, Extent out) {
    if (out == 0) return 0;
    Extent const most = max_input(f, mode, out);
    return most > f.strides[mode] ? most - f.strides[mode] + 1 : most > 0;
}

/// Functions of a TransposedConv for a filter as in source, `written`, and with rows, `collapsed`.
template <int Rank, int Collapsed>
struct TransposedShapes {
    Filter<Rank> written;
    Filter<Collapsed> collapsed;

    /// Weights of the first group as filters with input and output channels exchanged, C/G x K/G x R x S. Those of
    /// group g begin g K/G indices further along the weights' mode K.
    template <class Weights>
    FUSEKIT_HD static constexpr CollapsedView<AnyView<4>> exchanged(Weights const& weights, int groups) {
        AnyView<4> view = weights;
        Index<4> const &shape = weights.layout.shape, &stride = weights.layout.stride;
        view.layout.shape[0] = shape[1], view.layout.shape[1] = shape[0] / groups;
        view.layout.stride[0] = stride[1], view.layout.stride[1] = stride[0];
        return {view, weights.from};
    }

    /// Smallest extents of y that the filter maps to x's extents, for C / G channels of y per group.
    FUSEKIT_H constexpr CollapsedShape<4> least(CollapsedShape<4> const& x, Extent group_channels) const {
        CollapsedShape<4> y = x;
        y[1] = extent_product(group_channels, collapsed.group_count);
        constexpr int columns = Collapsed - 1;
        y[3] = min_input(collapsed, columns, x[3]);
        if constexpr (Collapsed == 3) {
            Index<5> const of_x = expand<5>(x);
            set_slices(y, min_input(collapsed, 0, of_x[2]), min_input(collapsed, 1, of_x[3]));
        } else {
            y[2] = min_input(collapsed, 0, x[2]);
        }
        return y;
    }
    /// Returns the extents `given` of y if the filter maps them to x's extents, else the smallest extents of y.
    FUSEKIT_H constexpr CollapsedShape<4> selected(CollapsedShape<4> const& x, Extent group_channels,
                                                   CollapsedShape<4> const& given) const {
        CollapsedShape<4> const smallest = least(x, group_channels);
        CollapsedShape<4> y = smallest;
        y[2] = given[2], y[3] = given[3], y.from.count = given.from.count;
        return extents_of_x(y) == extents_of_x(smallest) ? y : smallest;
    }
    /// Text of the valid range of y's extents, for messages: "2 x 8 x 13 x 13 to 2 x 8 x 14 x 14".
    FUSEKIT_H Text range(CollapsedShape<4> const& x, Extent group_channels) const {
        Index<Rank + 2> const smallest = expand<Rank + 2>(least(x, group_channels)), of_x = expand<Rank + 2>(x);
        Index<Rank + 2> most = smallest;
        for (int i = 0; i < Rank; ++i) most[2 + i] = max_input(written, i, of_x[2 + i]);
        return to_string(smallest) + (smallest == most ? Text("") : " to " + to_string(most));
    }
    /// Extents of x to which the filter maps extents y.
    FUSEKIT_H constexpr Index<Rank + 2> extents_of_x(CollapsedShape<4> const& y) const {
        Index<Rank + 2> x = expand<Rank + 2>(y);
        for (int i = 0; i < Rank; ++i) x[2 + i] = written.output(i, x[2 + i]);
        return x;
    }

    template <class Args>
    FUSEKIT_H constexpr double flops(CollapsedShape<4> const& y, Args const& args) const {
        Index<4> const w = args.weights.layout.shape;
        Index<Rank + 2> const x = extents_of_x(y);
        double count = 2;
        for (int mode = 0; mode < Rank + 2; ++mode) count *= static_cast<double>(mode == 1 ? w[0] : x[mode]);
        for (int mode = 1; mode < 4; ++mode) count *= static_cast<double>(w[mode]);
        return count;
    }

    template <class Option, class Args>
    FUSEKIT_H void check(Args const& args, Check const& in) const {
        Index<Rank + 2> const x = expand<Rank + 2>(in.x),
                              y = expand<Rank + 2>(least(in.x, args.weights.layout.shape[1]));
        for (int mode = 2; mode < Rank + 2; ++mode)
            if (y[mode] < 1 && x[mode] != 0)
                in.fail("filter", Text(conv_least[Rank - 1]) + " that the filter maps to x",
                        written.to_string() + " to " + to_string(in.x));
        check_weights<Option>(args.weights.type, in);
        int const groups = collapsed.group_count;
        if (in.x[1] % groups != 0)
            in.fail("filter", "groups that divide K", written.to_string() + " with K = " + Text::number(in.x[1]));
        CollapsedShape<4> weights = args.weights.layout.shape;
        // C/groups is that of y, except for depthwise weights 1 x C x R x S: they are C x 1 x R x S, exchanged.
        if (weights[0] == 1 && weights[1] == groups && in.x[1] == groups) weights[1] = 1;
        weights[0] = in.x[1], weights[2] = window_rows(collapsed), weights[3] = window_columns(collapsed);
        weights.from = in.x.from;
        weights.from.count = Collapsed == 3 ? collapsed.size[0] : 1;
        in.readable("weights", args.weights, weights, "K x C/groups x R x S", Access::read, true);
        std::int64_t const products = extent_product(in.x[1] / groups, weights[2] * weights[3]);
        check_products(products, in, [&] { return products < 0 ? to_string(weights) : Text::number(products); });
    }
};

}  // namespace detail

/// y[n,c,h,w] = sum over k, r, s of x[n,k,p,q] * weights[k,c,r,s] where p stride - pad + r dilation = h and
///              q stride - pad + s dilation = w
///
/// Transpose of Conv<Geometry>: maps the gradient of a convolution's output to the gradient of its input. As a layer it
/// upsamples images in decoders.
/// Shapes are those of the convolution with x and y exchanged: x N x K x P x Q, weights K x C/G x R x S, y N x C x H x
/// W, for any H and W that the filter maps to P and Q. With a stride above 1 several H and W are valid: a given y
/// selects one, and a new y has the smallest, H = (P - 1) stride + dilation (R - 1) + 1 - top - bottom.
/// filter(s) and filter(t, r, s): one and three spatial modes, as in Conv.
/// Arguments: weights, of x's type or, with TransposedConv<..., Weights<T>>, of T, any strides (for filter(t, r, s):
/// stride[T] = R stride[R]).
/// Requires: K divisible by G; with int8, which is accumulated exactly in int32, K/G R S of at most 131071.
/// Inserted zeros: a transposed convolution is a convolution over x with stride - 1 zeros inserted between elements.
/// The host multiplies by these zeros too, stride^2 products per useful one, and so does a GPU if the product of the
/// strides exceeds 16, or if a pool or statistics follow. In these cases an infinite or NaN weight times such a zero
/// gives NaN.
/// gfx90a rounds factors of type half to bfloat16, because its matrix units flush subnormal halves to 0; with
/// Products<float> it does not round (tensor/products.hpp).
/// Source: Dumoulin and Visin 2016, section 4.
template <auto Geometry, class Option = void>
    requires(detail::is_filter(Geometry))  // TransposedConv takes a filter, as in TransposedConv<fk::filter(3, 3)>
            && (detail::is_possible(Geometry))  // size, stride, dilation and groups are 1 or more, padding 0 or more
            && (detail::HeadOption<Option>::is_valid)  // the option of a TransposedConv is Weights<T> or Products<T>
struct TransposedConv {
    static constexpr auto stage = Stage::mainloop;
    template <Element X>
    using WeightElement = typename detail::HeadOption<Option>::template Element<X>;
    using FloatFactor = typename detail::HeadOption<Option>::Factor;
    static constexpr int space = Geometry.rank;
    static constexpr auto equation = detail::transposed_equation[space - 1];
    struct Args {
        Required<Collapsed<AnyView<4>, space + 2>, field::weights> weights;
    };

    static constexpr auto filter = detail::with_rows(Geometry);
    static constexpr int collapsed_space = filter.rank, longest = detail::longest_of(Geometry);
    static constexpr bool may_be_grouped = Geometry.group_count > 1;
    static constexpr bool may_be_single_pixels = detail::is_single_pixels(Geometry);
    static constexpr bool may_be_padded = !may_be_single_pixels;
    FUSEKIT_HD static constexpr auto geometry(Args const&) {
        return detail::TransposedFilter<collapsed_space, detail::has_strides(Geometry)>(filter);
    }
    /// Weights as filters of a convolution over x (TransposedShapes).
    FUSEKIT_HD static constexpr detail::CollapsedView<AnyView<4>> filters(Args const& args) {
        return Shapes::exchanged(args.weights, filter.group_count);
    }
    FUSEKIT_H static Text written(Args const&) { return Geometry.to_string(); }

    FUSEKIT_H static constexpr CollapsedShape<4> output(CollapsedShape<4> const& x, Args const& args) {
        return shapes().least(x, args.weights.layout.shape[1]);
    }
    FUSEKIT_H static constexpr CollapsedShape<4> output(CollapsedShape<4> const& x, Args const& args,
                                                        CollapsedShape<4> const& given) {
        return shapes().selected(x, args.weights.layout.shape[1], given);
    }
    FUSEKIT_H static Text outputs(CollapsedShape<4> const& x, Args const& args) {
        return shapes().range(x, args.weights.layout.shape[1]);
    }

    FUSEKIT_H static constexpr double flops(CollapsedShape<4> const& y, Args const& args) {
        return shapes().flops(y, args);
    }

    FUSEKIT_H static Text name() {
        Text const option = detail::HeadOption<Option>::written();
        return "TransposedConv<" + Geometry.to_string() + (option.empty() ? "" : ", ") + option + ">";
    }

    FUSEKIT_H static void check(Args const& args, Check const& in) { shapes().template check<Option>(args, in); }

private:
    using Shapes = detail::TransposedShapes<space, collapsed_space>;
    FUSEKIT_H static constexpr Shapes shapes() { return {Geometry, filter}; }
};

}  // namespace fusekit
