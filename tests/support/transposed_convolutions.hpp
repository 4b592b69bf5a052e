// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/difference.hpp"
#include "support/filled.hpp"
#include "support/static_geometries.hpp"
#include "support/without_y.hpp"

/// Transposed convolutions of integers, which are exact. Shapes are those of the convolution that is transposed: from
/// its y to its x.
namespace test {

/// Layouts of x, the weights and y.
template <int Space>
struct TransposedLayouts {
    static constexpr char const* all[6][3] = {{"nchw", "kcrs", "nchw"},   {"nhwc", "krsc", "nhwc"},
                                              {"nhwc", "crsk", "nhwc"},   {"nchw", "ckrs", "nchw"},
                                              {"nchw+1", "crsk", "nhwc"}, {"nhwc+3", "kcrs*2-kr", "nchw+1"}};
};
template <>
struct TransposedLayouts<1> {
    static constexpr char const* all[3][3] = {{"ncw", "kcs", "ncw"}, {"nwc", "csk", "nwc"}, {"nwc+1", "ksc", "ncw"}};
};
template <>
struct TransposedLayouts<3> {
    static constexpr char const* all[3][3] = {
        {"ncdhw", "kctrs", "ncdhw"}, {"ndhwc", "ctrsk", "ndhwc"}, {"ncdhw+1", "ktrsc", "ndhwc"}};
};

inline oracle::Shape output_of(oracle::Window const& f, oracle::Shape const& x, std::int64_t k) {
    return {x.n, k, f.output_height(x.h), f.output_width(x.w), f.output_depth(x.d)};
}

/// A head and a bias, from k channels to x, in each of the layouts; with `operators`, also a prologue.
template <class T, auto Geometry, bool operators = false, class Layouts = TransposedLayouts<Geometry.rank>,
          class Device>
void check_transposed(Device& device, oracle::Shape const& x, std::int64_t k) {
    constexpr int rank = Geometry.rank + 2;
    using U = std::conditional_t<std::is_same_v<T, fk::int8>, float, T>;
    using Head = fk::TransposedConv<Geometry>;
    oracle::Window const window = GeometryOf<Geometry.rank>::window(Geometry);
    oracle::Shape const u = output_of(window, x, k);
    oracle::Shape const filter{k, x.c / window.groups, window.r, window.s, window.t};
    auto const values = integers(u.size(), -3, 4, 1), weights = integers(filter.size(), -2, 2, 2),
               bias = integers(x.c, -3, 3, 3), before = integers(k, -2, 3, 4);
    oracle::Tensor const of_u(u, values), sums = oracle::transposed_conv(of_u, weights, x, window),
                                          read = oracle::activation(oracle::bias(of_u, before), {"relu"});
    Placed<Device, 1> b(device, fk::DataType::float32, fk::channels(x.c), bias),
        a(device, fk::DataType::float32, fk::channels(k), before);
    for (auto const& [x_layout, w_layout, y_layout] : Layouts::all) {
        INFO(fk::type_name<Head>() << ' ' << fk::name(fk::data_type<T>) << " from " << k << " to " << x.c << ' ' << x.d
                                   << ' ' << x.h << ' ' << x.w << ", " << x_layout << ' ' << w_layout << ' '
                                   << y_layout);
        Filled<T, Device, rank> in(device, x_layout, u, values), w(device, w_layout, filter, weights);
        auto const check = [&](auto const& layer, oracle::Tensor const& expected) {
            Placed<Device, rank> y(device, fk::data_type<U>, layout_of<rank>(y_layout, x), 64);
            layer(device, in.view(), y.template view<U>());
            CHECK(difference(expected, y.fetch()) == "");
        };
        using Relu = fk::Activation<fk::Relu>;
        if constexpr (operators)
            check(fk::Plan<fk::Bias, Relu, Head, fk::Bias, Relu>::bind({.bias = a.any()}, {}, {.weights = w.view()},
                                                                       {.bias = b.any()}, {}),
                  oracle::activation(oracle::bias(oracle::transposed_conv(read, weights, x, window), bias), {"relu"}));
        else check(fk::Plan<Head, fk::Bias>::bind({.weights = w.view()}, {.bias = b.any()}), oracle::bias(sums, bias));
    }
}

/// A NaN in one weight and an infinity in x, all other elements 1: checks that they reach only the outputs that read
/// them. Shapes as in check_transposed(), channels-last; x.n is at least 2.
template <class T, auto Geometry, class Device>
void check_transposed_infinities(Device& device, oracle::Shape const& x, std::int64_t k) {
    oracle::Window const f = GeometryOf<Geometry.rank>::window(Geometry);
    oracle::Shape const u = output_of(f, x, k);
    auto const index = [](std::int64_t value) { return static_cast<std::size_t>(value); };
    std::vector<T> values(index(u.size()), T(1.0f)), weights(index(k * f.r * f.s * x.c), T(1.0f)), got(index(x.size()));
    std::int64_t const nan_c = x.c / 2, inf_p = u.h / 2, inf_q = u.w - 1;
    // the last channel of a pixel of image 1; filter 0's first tap
    values[index(((u.h + inf_p) * u.w + inf_q) * k + k - 1)] = T(HUGE_VALF);
    weights[index(nan_c)] = T(NAN);
    fk::Tensor<T, Device> in(device, fk::nhwc(u.n, u.h, u.w, k)), w(device, fk::krsc(k, f.r, f.s, x.c)),
        y(device, fk::nhwc(x.n, x.h, x.w, x.c));
    in.copy_from(values.data()), w.copy_from(weights.data());
    fk::Plan<fk::TransposedConv<Geometry>>::bind({.weights = w})(device, in, y);
    y.copy_to(got.data());
    INFO(fk::type_name<fk::TransposedConv<Geometry>>() << " from " << k << " to " << x.c);
    int wrong = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) {
        std::int64_t const c = i % x.c, column = i / x.c % x.w, row = i / x.c / x.w % x.h, n = i / x.c / x.w / x.h;
        if (c == nan_c) continue;
        std::int64_t sum = 0;
        bool reads_infinity = false;
        for (int r = 0; r < f.r; ++r)
            for (int s = 0; s < f.s; ++s) {
                std::int64_t const in_rows = row + Geometry.pad_before[0] - r * Geometry.dilations[0],
                                   in_columns = column + Geometry.pad_before[1] - s * Geometry.dilations[1],
                                   p = in_rows / Geometry.strides[0], q = in_columns / Geometry.strides[1];
                if (in_rows % Geometry.strides[0] != 0 || in_columns % Geometry.strides[1] != 0) continue;
                if (p < 0 || p >= u.h || q < 0 || q >= u.w) continue;
                sum += k;
                reads_infinity = reads_infinity || (n == 1 && p == inf_p && q == inf_q);
            }
        auto const value = static_cast<float>(got[index(i)]);
        wrong += reads_infinity ? !(value == HUGE_VALF) : value != static_cast<float>(sum);
    }
    CHECK(wrong == 0);
}

/// Channels-last layouts alone.
struct ChannelsLastLayouts {
    static constexpr char const* all[1][3] = {{"nhwc", "krsc", "nhwc"}};
};
/// Channels-last layouts with gaps of 8 elements after each row, plane and image.
struct ChannelsLastGaps {
    static constexpr char const* all[1][3] = {{"nhwc+8", "krsc+8", "nhwc+8"}};
};

/// A half gradient of k channels, mapped to x and multiplied by the slope of a Relu of z in the epilogue.
template <fk::Filter<2> geometry = fk::filter(3, 3).pad(1), class Device, class Scheduled>
void check_slope_after_transposed(Device& device, Scheduled&& scheduled, oracle::Shape const& x, std::int64_t k) {
    using Plan = fk::Plan<fk::TransposedConv<geometry>, fk::ActivationSlope<fk::Relu>>;
    oracle::Window const window = GeometryOf<2>::window(geometry);
    oracle::Shape const of_dy = output_of(window, x, k), filter{k, x.c, window.r, window.s};
    Filled<fk::half, Device, 4> dy(device, "nhwc", of_dy, integers(of_dy.size(), -3, 4, 1)),
        w(device, "krsc", filter, integers(filter.size(), -2, 2, 2)),
        z(device, "nhwc", x, integers(x.size(), -3, 3, 3));
    auto expected = oracle::transposed_conv(oracle::Tensor{of_dy, dy.values}, w.values, x, window);
    for (std::size_t i = 0; i < expected.at.size(); ++i)
        if (z.values[i] <= 0) expected.at[i] = {};
    Placed<Device, 4> dx(device, fk::DataType::float16, layout_of<4>("nhwc", x), 64);
    Plan::bind({.weights = w.view()}, {.z = z.view()})(scheduled, dy.view(), dx.template view<fk::half>());
    CHECK(difference(expected, dx.fetch()) == "");
}

/// Any type: stride 1 and 2, the latter to x of every extent that gives the same y; groups; sizes that are no multiple
/// of a tile.
template <class T, class Device>
void check_transposed_convolutions(Device& device) {
    check_transposed<T, fk::filter(3, 3).pad(1)>(device, {1, 24, 9, 9}, 16);
    check_transposed<T, fk::filter(3, 3).pad(1)>(device, {2, 71, 5, 7}, 67);
    for (std::int64_t const h : {9, 10})
        for (std::int64_t const w : {7, 8})
            check_transposed<T, fk::filter(3, 3).pad(1).stride(2)>(device, {1, 7, h, w}, 8);
    check_transposed<T, fk::filter(3, 2).pad(2, 1).stride(2, 4).dilation(3, 2).groups(2)>(device, {1, 40, 11, 10}, 48);
}

/// Windows of every kind: strides and dilations, uneven padding and more padding than taps, thin groups and depthwise;
/// a prologue; signals and volumes.
template <class T, class Device>
void check_transposed_windows(Device& device) {
    check_transposed<T, fk::filter(1, 1)>(device, {2, 19, 5, 7}, 33);
    check_transposed<T, fk::filter(1, 1).stride(2)>(device, {2, 9, 6, 5}, 3);
    check_transposed<T, fk::filter(4, 4).pad(1).stride(2), true>(device, {2, 5, 10, 12}, 9);
    check_transposed<T, fk::filter(5, 2).pad(1, 0, 2, 1).stride(3, 1).dilation(1, 3)>(device, {2, 3, 13, 12}, 5);
    check_transposed<T, fk::filter(2, 3).pad(4, 3, 3, 5), true>(device, {1, 6, 3, 2}, 4);
    check_transposed<T, fk::filter(3, 3).pad(1).groups(5)>(device, {2, 5, 6, 5}, 10);
    check_transposed<T, fk::filter(3, 3).pad(1).stride(2).groups(12)>(device, {2, 12, 7, 6}, 12);
    check_transposed<T, fk::filter(3, 3).pad(1).groups(9)>(device, {2, 9, 5, 9}, 9);
    check_transposed<T, fk::filter(4).pad(1).stride(2)>(device, {2, 5, 1, 31}, 7);
    check_transposed<T, fk::filter(3).pad(2, 0).dilation(2).groups(2)>(device, {1, 6, 1, 23}, 4);
    check_transposed<T, fk::filter(2, 3, 3).pad(1, 0, 1).stride(2, 1, 3)>(device, {1, 5, 5, 7, 4}, 6);
    check_transposed<T, fk::filter(3, 2, 1).pad(1, 1, 0)>(device, {2, 3, 4, 3, 3}, 5);
}

/// A pool and statistics after a head of T and W: for the smallest y and for any given y.
template <auto Geometry, class T = float, class W = fk::int8, class Device>
void check_after_transposed(Device& device, oracle::Shape const& x, std::int64_t k) {
    using Head = fk::TransposedConv<Geometry, fk::Weights<W>>;
    oracle::Window const window = GeometryOf<2>::window(Geometry);
    oracle::Shape const u = output_of(window, x, k), filter{k, x.c, window.r, window.s};
    for (char const* layout : {"nchw", "nhwc"}) {
        INFO(fk::type_name<Head>() << ' ' << layout);
        Filled<T, Device, 4> in(device, layout, u, integers(u.size(), -3, 4, 1));
        Filled<W, Device, 4> w(device, "kcrs", filter, integers(filter.size(), -2, 2, 2));
        auto const sums = [&](oracle::Shape const& of) {
            return oracle::transposed_conv(oracle::Tensor(u, in.values), w.values, of, window);
        };
        using Pooled = fk::Plan<Head, fk::Pool<fk::Max, 2, 2>>;
        auto const pooled = Pooled::bind({.weights = w.view()}, {});
        fk::Index<4> const shape = pooled.output_shape(in.view().layout.shape);
        Placed<Device, 4> p(device, fk::data_type<T>, layout_of<4>(layout, {shape[0], shape[1], shape[2], shape[3]}),
                            64);
        pooled(device, in.view(), p.template view<T>());
        CHECK(difference(oracle::pool(sums({x.n, x.c, 2 * shape[2], 2 * shape[3]}), true, 2, 2), p.fetch()) == "");

        Placed<Device, 4> y(device, fk::data_type<T>, layout_of<4>(layout, x), 64);
        BesideY<T, Device> beside(device, layout_of<4>(layout, x));
        fk::Plan<Head, fk::Store, fk::ChannelStatistics>::bind(
            {.weights = w.view()}, beside.store(), beside.statistics(true))(device, in.view(), y.template view<T>());
        oracle::Tensor const expected = sums(x);
        CHECK(difference(expected, y.fetch()) == "");
        CHECK(difference(expected, beside.values.fetch()) == "");
        std::vector<double> totals(static_cast<std::size_t>(x.c));
        for (std::size_t i = 0; i < expected.at.size(); ++i) totals[expected.channel(i)] += expected.at[i].value;
        double const count = static_cast<double>(x.n * x.h * x.w);
        for (std::int64_t c = 0; c < x.c; ++c) {
            double const mean = totals[static_cast<std::size_t>(c)] / count;
            CHECK(std::fabs(beside.mean.fetch().get(c) - mean) <= 1e-5 * (std::fabs(mean) + 1));
        }
    }
}

template <class Device>
void check_operators_after_transposed(Device& device) {
    check_after_transposed<fk::filter(3, 3).pad(1)>(device, {2, 9, 8, 6}, 7);
    check_after_transposed<fk::filter(2, 2).stride(2)>(device, {2, 20, 7, 12}, 5);
}

/// Adjoint test of a convolution and its transpose: sum of conv(x) u = sum of x transposed(u).
template <auto Geometry, class Device>
void check_adjoint(Device& device, oracle::Shape const& x, std::int64_t k) {
    oracle::Window const window = GeometryOf<2>::window(Geometry);
    oracle::Shape const u = output_of(window, x, k), filter{k, x.c / window.groups, window.r, window.s};
    for (char const* layout : {"nchw", "nhwc"}) {
        Filled<float, Device, 4> in(device, layout, x, integers(x.size(), -3, 4, 1)),
            gradient(device, layout, u, integers(u.size(), -4, 3, 2)),
            w(device, "kcrs", filter, integers(filter.size(), -2, 2, 3));
        Placed<Device, 4> forward(device, fk::DataType::float32, layout_of<4>(layout, u), 64),
            back(device, fk::DataType::float32, layout_of<4>(layout, x), 64);
        fk::Plan<fk::Conv<Geometry>>::bind({.weights = w.view()})(device, in.view(), forward.template view<float>());
        fk::Plan<fk::TransposedConv<Geometry>>::bind({.weights = w.view()})(device, gradient.view(),
                                                                            back.template view<float>());
        auto const product = [&](std::vector<double> const& a, Memory<4> const& b, oracle::Shape const& shape) {
            fk::Layout<4> const lies = layout_of<4>(layout, shape), canonical = layout_of<4>("nchw", shape);
            double sum = 0;
            for (std::int64_t i = 0; i < shape.size(); ++i) {
                fk::Index<4> at{};
                for (int mode = 0; mode < 4; ++mode) at[mode] = i / canonical.stride[mode] % canonical.shape[mode];
                sum += a[static_cast<std::size_t>(i)] * b.get(lies.offset(at));
            }
            return sum;
        };
        double const of_y = product(gradient.values, forward.fetch(), u);
        CHECK(of_y != 0);
        CHECK(of_y == product(in.values, back.fetch(), x));
    }
}

template <class Device>
void check_adjoints(Device& device) {
    check_adjoint<fk::filter(3, 3).pad(1)>(device, {2, 5, 7, 9}, 6);
    check_adjoint<fk::filter(3, 3).pad(1).stride(2)>(device, {2, 5, 8, 9}, 6);
    check_adjoint<fk::filter(5, 2).pad(1, 0, 2, 1).stride(3, 2).dilation(2, 3).groups(2)>(device, {1, 6, 17, 14}, 4);
}

}  // namespace test
