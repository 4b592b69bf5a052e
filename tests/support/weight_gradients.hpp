// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/difference.hpp"
#include "support/element_types.hpp"
#include "support/filled.hpp"
#include "support/oracle.hpp"
#include "support/refusal.hpp"

/// Gradients of a convolution's weights. Fills are small integers: sums are exact in any order.
namespace test {

/// x, K channels of dy, and the layouts of x, dy and dw; z, which is added to dw twice, has dw's layout.
struct GradientCase {
    oracle::Shape x;
    std::int64_t k;
    char const *x_layout, *dy_layout, *dw_layout;
};

template <int Rank>
oracle::Window window_of(fk::Filter<Rank> const& f) {
    oracle::Window window;
    window.groups = f.group_count;
    window.s = f.size[Rank - 1], window.left = f.pad_before[Rank - 1], window.right = f.pad_after[Rank - 1];
    window.v = f.strides[Rank - 1], window.e = f.dilations[Rank - 1];
    if constexpr (Rank > 1) {
        window.r = f.size[Rank - 2], window.top = f.pad_before[Rank - 2], window.bottom = f.pad_after[Rank - 2];
        window.u = f.strides[Rank - 2], window.d = f.dilations[Rank - 2];
    }
    if constexpr (Rank > 2) {
        window.t = f.size[0], window.front = f.pad_before[0], window.back = f.pad_after[0];
        window.slice_stride = f.strides[0], window.slice_dilation = f.dilations[0];
    }
    return window;
}

/// The gradient, with that of a bias; where Accumulates, also scaled and accumulated into dw, by another kernel. T is
/// the element type of x and dy, or Types<T, type of dw>.
template <class T, auto Geometry, bool Accumulates = true, class Device>
void check_weight_gradient(Device& device, GradientCase const& of) {
    constexpr int rank = Geometry.rank + 2;
    using X = XOf<T>;
    using Y = YOf<T>;
    using Gradient = fk::ConvWeightGradient<Geometry>;
    oracle::Window const f = window_of(Geometry);
    oracle::Shape const shape{of.x.n, of.k, f.output_height(of.x.h), f.output_width(of.x.w), f.output_depth(of.x.d)};
    INFO(fk::type_name<Gradient>() << " of " << name_of_types<T>() << ' ' << of.x.n << ' ' << of.x.c << ' ' << of.x.d
                                   << ' ' << of.x.h << ' ' << of.x.w << ' ' << of.k << ' ' << of.x_layout << ' '
                                   << of.dy_layout << ' ' << of.dw_layout);
    oracle::Tensor const x(of.x, integers(of.x.size(), -2, 3, 1)), dy(shape, integers(shape.size(), -3, 2, 2));
    auto const values = [](oracle::Tensor const& tensor) {
        std::vector<double> all;
        for (Bounded const& value : tensor.at) all.push_back(value.value);
        return all;
    };
    Filled<X, Device, rank> in(device, of.x_layout, of.x, values(x)), out(device, of.dy_layout, shape, values(dy));
    oracle::Tensor const expected = oracle::weight_gradient(x, dy, f);
    auto const layout = layout_of<rank>(of.dw_layout, expected.shape);
    auto const run = [&](auto const& bound, oracle::Tensor const& result, Placed<Device, rank>& dw) {
        bound(device, in.view(), dw.template view<Y>());
        CHECK(difference(result, dw.fetch()) == "");
    };
    auto const run_prepared = [&](auto const& bound, oracle::Tensor const& result, Placed<Device, rank>& dw) {
        if constexpr (requires { device.own_workspace_bytes(); }) {  // not for a device wrapped by a test
            bound.prepare(device, in.view(), dw.template view<Y>())(device, in.view(), dw.template view<Y>());
            CHECK(difference(result, dw.fetch()) == "");
        }
    };

    Placed<Device, 1> db(device, fk::DataType::float32, fk::channels(of.k), 64);
    Placed<Device, rank> dw(device, fk::data_type<Y>, layout, 64);
    run(fk::Plan<Gradient>::bind({.dy = out.view(), .bias_gradient = db.template view<float>()}), expected, dw);
    Placed<Device, rank> again(device, fk::data_type<Y>, layout, 64);
    run_prepared(fk::Plan<Gradient>::bind({.dy = out.view(), .bias_gradient = db.template view<float>()}), expected,
                 again);
    oracle::Tensor bias({1, of.k, 1, 1});
    for (std::size_t i = 0; i < dy.at.size(); ++i) bias.at[dy.channel(i)].value += dy.at[i].value;
    for (std::int64_t k = 0; k < of.k; ++k) CHECK(db.fetch().get(k) == bias.at[static_cast<std::size_t>(k)].value);

    if constexpr (Accumulates) {
        auto const before = integers(expected.shape.size(), -9, 9, 3);
        Placed<Device, rank> sum(device, fk::data_type<Y>, layout, before);
        auto const view = sum.template view<Y>();
        using Accumulating = fk::Plan<Gradient, fk::Scale, fk::Residual>;
        run(Accumulating::bind({.dy = out.view()}, {.factor = 0.5f}, {.z = view, .alpha2 = 2}),
            oracle::residual(oracle::scale(expected, 0.5), before, 2), sum);
    }
}

/// Windows, groups and layouts of all kinds, with sizes that are no multiple of a tile.
template <class T, class Device>
void check_weight_gradients(Device& device) {
    check_weight_gradient<T, fk::filter(3, 3).pad(1)>(device, {{2, 5, 9, 7}, 8, "nchw", "nchw", "nchw"});
    check_weight_gradient<T, fk::filter(3, 3).pad(1)>(device, {{2, 36, 6, 5}, 21, "nhwc", "nhwc", "nhwc"});
    check_weight_gradient<T, fk::filter(3, 2).pad(2, 0, 1, 1).stride(2, 1).dilation(1, 2)>(
        device, {{3, 4, 8, 9}, 7, "nhwc", "nchw+1", "nchw*2"});
    check_weight_gradient<T, fk::filter(1, 1)>(device, {{1, 68, 17, 16}, 65, "nchw", "nhwc", "nhwc"});
    check_weight_gradient<T, fk::filter(2, 2).stride(2).groups(3)>(device, {{2, 12, 6, 7}, 6, "nhwc", "nhwc", "nchw"});
    check_weight_gradient<T, fk::filter(3, 3).pad(1).groups(4)>(device, {{1, 4, 4, 4}, 4, "nchw-h", "nchw", "nchw"});
    check_weight_gradient<T, fk::filter(3).pad(0, 2)>(device, {{2, 3, 1, 11}, 4, "ncw", "ncw", "ncw"});
    check_weight_gradient<T, fk::filter(2, 3, 1).pad(1).stride(2, 1, 1)>(
        device, {{1, 4, 5, 4, 3}, 3, "ndhwc", "ncdhw", "ndhwc"});
}

/// Adjoint test: <Conv(x; w), dy> = <w, dw> for every w; both are sums of the same products.
template <class Device>
void check_adjoint(Device& device) {
    static constexpr auto f = fk::filter(3, 3).pad(1).stride(2);
    oracle::Shape const in{2, 6, 7, 8}, out{2, 5, 4, 4}, filters{5, 6, 3, 3};
    auto const inner = [](auto const& a, auto const& b) {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
        return sum;
    };
    auto const fetched = [](auto& placed, std::int64_t size) {
        std::vector<double> values;
        for (std::int64_t i = 0; i < size; ++i) values.push_back(placed.fetch().get(i));
        return values;
    };
    Filled<float, Device, 4> x(device, "nhwc", in, integers(in.size(), -2, 3, 4)),
        dy(device, "nchw", out, integers(out.size(), -3, 2, 5)),
        w(device, "nchw", filters, integers(filters.size(), -4, 4, 6));
    Placed<Device, 4> y(device, fk::DataType::float32, layout_of("nchw", out), 64),
        dw(device, fk::DataType::float32, layout_of("nchw", filters), 64);
    fk::Plan<fk::Conv<f>>::bind({.weights = w.view()})(device, x.view(), y.template view<float>());
    fk::Plan<fk::ConvWeightGradient<f>>::bind({.dy = dy.view()})(device, x.view(), dw.template view<float>());
    CHECK(inner(fetched(y, out.size()), dy.values) == inner(fetched(dw, filters.size()), w.values));
}

}  // namespace test
