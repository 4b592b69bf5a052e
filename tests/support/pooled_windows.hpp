// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "fusekit/fusekit.hpp"
#include "support/difference.hpp"
#include "support/element_types.hpp"
#include "support/filled.hpp"
#include "support/oracle.hpp"

namespace test {

/// Layouts of x and of y.
struct PooledLayouts {
    char const *x, *y;
};

/// Runs a plan that ends with Bias, Residual, Store, Relu and a pool, after `first...`, the arguments of a Conv or
/// none. `sums` is the input of Bias.
template <class Pool, class Plan, class T, class Device, int Rank>
void check_pooled(Device& device, PooledLayouts const& layouts, fk::TensorView<XOf<T> const, Rank> const& x,
                  oracle::Tensor const& sums, auto const&... first) {
    oracle::Shape const in = sums.shape;
    INFO(fk::type_name<Plan>() << ' ' << layouts.x << ' ' << layouts.y << ' ' << in.n << ' ' << in.c << ' ' << in.d
                               << ' ' << in.h << ' ' << in.w << ' ' << name_of_types<T>());
    auto const bias = integers(in.c, -3, 3, 5);
    Placed<Device, 1> b(device, fk::DataType::float32, fk::channels(in.c), bias);
    Filled<XOf<T>, Device, Rank> z(device, layouts.x, in, integers(in.size(), -5, 5, 6));
    auto const before = oracle::residual(oracle::bias(sums, bias), z.values, 2);
    constexpr bool global = std::is_same_v<Pool, fk::GlobalAverage>;
    constexpr bool largest = std::is_same_v<typename Pool::Reduce, fk::Max>;
    auto expected =
        oracle::pool(oracle::activation(before, {"relu"}), largest, global ? in.d * in.h : 2, global ? in.w : 2);
    Placed<Device, Rank> y(device, fk::data_type<YOf<T>>, layout_of<Rank>(layouts.y, expected.shape), 64),
        values(device, fk::data_type<XOf<T>>, layout_of<Rank>(layouts.x, in), 64);
    Plan::bind(first..., {.bias = b.any()}, {.z = z.view(), .alpha2 = 2}, {.values = values.template view<XOf<T>>()},
               {}, {})(device, x, y.template view<YOf<T>>());
    CHECK(difference(expected, y.fetch()) == "");
    CHECK(difference(before, values.fetch()) == "");
}

template <class Pool, class T, int Rank, class Device>
void check_pooled_pointwise(Device& device, PooledLayouts const& layouts, oracle::Shape shape) {
    using Plan = fk::Plan<fk::Bias, fk::Residual, fk::Store, fk::Activation<fk::Relu>, Pool>;
    Filled<XOf<T>, Device, Rank> x(device, layouts.x, shape, integers(shape.size(), -9, 9, 3));
    check_pooled<Pool, Plan, T>(device, layouts, x.view(), oracle::Tensor(shape, x.values));
}

template <class Pool, class T, class Device>
void check_pooled_conv(Device& device, PooledLayouts const& layouts, oracle::Shape shape, std::int64_t k,
                       oracle::Window const& f) {
    using Plan = fk::Plan<fk::Conv<fk::dynamic>, fk::Bias, fk::Residual, fk::Store, fk::Activation<fk::Relu>, Pool>;
    oracle::Shape const filter{k, shape.c / f.groups, f.r, f.s};
    Filled<XOf<T>, Device, 4> x(device, layouts.x, shape, integers(shape.size(), -2, 2, 3));
    Filled<XOf<T>, Device, 4> w(device, "nchw", filter, integers(filter.size(), -1, 1, 4));
    typename fk::Conv<fk::dynamic>::Args const conv{.weights = w.view(), .filter = filter_of(f)};
    check_pooled<Pool, Plan, T>(device, layouts, x.view(),
                                oracle::conv(oracle::Tensor(shape, x.values), w.values, k, f), conv);
}

/// Runs a plan of a Conv, operators that depend on the channel alone, and a 2 x 2 pool. y is poisoned first.
template <class Pool, class T, class Head = fk::Conv<fk::dynamic>, class Device>
void check_pooled_channels(Device& device, PooledLayouts const& layouts, oracle::Shape shape, std::int64_t k,
                           oracle::Window const& f) {
    using Plan = fk::Plan<Head, fk::Bias, fk::Activation<fk::Relu>, Pool>;
    INFO(fk::type_name<Plan>() << ' ' << layouts.x << ' ' << layouts.y << ' ' << shape.n << ' ' << shape.c << ' '
                               << shape.h << ' ' << shape.w << ' ' << k << ' ' << name_of_types<T>());
    oracle::Shape const filter{k, shape.c / f.groups, f.r, f.s};
    Filled<XOf<T>, Device, 4> x(device, layouts.x, shape, integers(shape.size(), -2, 2, 3)),
        w(device, std::string(layouts.x) == "nchw" ? "nchw" : "nhwc", filter, integers(filter.size(), -1, 1, 4));
    auto const bias = integers(k, -3, 3, 5);
    Placed<Device, 1> b(device, fk::DataType::float32, fk::channels(k), bias);
    auto const before = oracle::bias(oracle::conv(oracle::Tensor(shape, x.values), w.values, k, f), bias);
    auto const expected =
        oracle::pool(oracle::activation(before, {"relu"}), !std::is_same_v<typename Pool::Reduce, fk::Average>, 2, 2);
    Placed<Device, 4> y(device, fk::data_type<YOf<T>>, layout_of<4>(layouts.y, expected.shape), 64);
    auto const conv = [&]() -> typename Head::Args {
        if constexpr (std::is_same_v<Head, fk::Conv<fk::dynamic>>) return {.weights = w.view(), .filter = filter_of(f)};
        else return {.weights = w.view()};
    };
    Placed<Device, 4> taps(device, fk::DataType::int8, layout_of<4>(layouts.y, expected.shape), 64);
    auto const of_pool = [&]() -> typename Pool::Args {
        if constexpr (Pool::writes_taps) return {.taps = taps.template view<fk::int8>()};
        else return {};
    };
    Plan::bind(conv(), {.bias = b.any()}, {}, of_pool())(device, x.view(), y.template view<YOf<T>>());
    CHECK(difference(expected, y.fetch()) == "");
    if constexpr (Pool::writes_taps) {
        oracle::Window const windows{.r = 2, .s = 2, .u = 2, .v = 2};
        CHECK(difference(oracle::pool_taps(oracle::activation(before, {"relu"}), windows), taps.fetch()) == "");
    }
}

/// Windows of a filter, which may overlap, leave gaps and cover padding.
inline oracle::Window pool_window_of(fk::Filter<2> const& f) {
    return {f.size.h, f.size.w, f.pad_before.h, f.pad_before.w, f.pad_after.h, f.pad_after.w, f.strides.h, f.strides.w};
}

/// Runs a plan that ends with Bias, Residual, Relu and a pool with a filter's windows.
template <class Pool, class T, class Device>
void check_pooled_filter(Device& device, PooledLayouts const& layouts, oracle::Shape shape) {
    using Plan = fk::Plan<fk::Bias, fk::Residual, fk::Activation<fk::Relu>, Pool>;
    INFO(fk::type_name<Plan>() << ' ' << layouts.x << ' ' << layouts.y << ' ' << shape.n << ' ' << shape.c << ' '
                               << shape.h << ' ' << shape.w << ' ' << name_of_types<T>());
    Filled<XOf<T>, Device, 4> x(device, layouts.x, shape, integers(shape.size(), -9, 9, 3)),
        z(device, layouts.x, shape, integers(shape.size(), -5, 5, 6));
    auto const bias = integers(shape.c, -3, 3, 5);
    Placed<Device, 1> b(device, fk::DataType::float32, fk::channels(shape.c), bias);
    auto const before = oracle::residual(oracle::bias(oracle::Tensor(shape, x.values), bias), z.values, 2);
    oracle::PoolRules const rules{std::is_same_v<typename Pool::Reduce, fk::AverageWithPadding>, Pool::rounds_up};
    auto const expected =
        oracle::pool(oracle::activation(before, {"relu"}), std::is_same_v<typename Pool::Reduce, fk::Max>,
                     pool_window_of(Pool::geometry), rules);
    Placed<Device, 4> y(device, fk::data_type<YOf<T>>, layout_of<4>(layouts.y, expected.shape), 64);
    Plan::bind({.bias = b.any()}, {.z = z.view(), .alpha2 = 2}, {}, {})(device, x.view(), y.template view<YOf<T>>());
    CHECK(difference(expected, y.fetch()) == "");
}

/// Windows that overlap; uneven padding and strides; gaps; many elements. Channel counts that are multiples of a
/// vector, and others; images of one window.
template <class Device>
void check_pooled_filters(Device& device) {
    for (PooledLayouts const& layouts : {PooledLayouts{"nchw", "nchw"}, PooledLayouts{"nhwc", "nhwc"},
                                         PooledLayouts{"nhwc", "nchw"}, PooledLayouts{"nchw!8", "nhwc"}})
        for (oracle::Shape const& shape : {oracle::Shape{2, 16, 7, 8}, {2, 3, 9, 37}, {3, 8, 2, 3}}) {
            using ResNet = fk::Pool<fk::Max, fk::filter(3, 3).stride(2).pad(1)>;
            check_pooled_filter<ResNet, float>(device, layouts, shape);
            check_pooled_filter<ResNet, fk::half>(device, layouts, shape);
            check_pooled_filter<fk::Pool<fk::Average, fk::filter(2, 4).stride(1, 3).pad(1, 3, 0, 2)>, fk::bfloat16>(
                device, layouts, shape);
            check_pooled_filter<fk::Pool<fk::Max, fk::filter(1, 2).stride(3)>, fk::int8>(device, layouts, shape);
            check_pooled_filter<fk::Pool<fk::Average, fk::filter(9, 8).pad(8, 7)>, Types<fk::half, float>>(
                device, layouts, shape);
        }
}

/// Pools of plans with a Conv: partial tiles, groups, strides, thin groups.
template <class Device>
void check_pooled_convs(Device& device) {
    using Max = fk::Pool<fk::Max, 2, 2>;
    using Average = fk::Pool<fk::Average, 2, 2>;
    for (PooledLayouts const& layouts : {PooledLayouts{"nchw", "nchw"}, PooledLayouts{"nhwc", "nhwc"},
                                         PooledLayouts{"nhwc", "nchw"}, PooledLayouts{"nchw+1", "nhwc*2"}}) {
        check_pooled_conv<Max, float>(device, layouts, {2, 5, 10, 6}, 37, {.r = 1, .s = 1});
        check_pooled_conv<Max, float>(device, layouts, {2, 4, 4, 4}, 64, {.r = 1, .s = 1});
        check_pooled_conv<Average, fk::half>(device, layouts, {3, 5, 10, 6}, 19,
                                             {.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1});
        check_pooled_conv<Max, fk::bfloat16>(device, layouts, {1, 12, 12, 8}, 22,
                                             {.r = 3, .s = 3, .top = 1, .bottom = 1, .u = 3, .v = 1, .groups = 2});
        check_pooled_conv<Average, float>(device, layouts, {2, 9, 4, 12}, 9,
                                          {.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1, .groups = 9});
        check_pooled_conv<Max, float>(device, layouts, {1, 3, 34, 30}, 70,
                                      {.r = 5, .s = 5, .top = 2, .left = 2, .bottom = 2, .right = 2});
    }
}

/// Pools of pointwise plans.
template <class Device>
void check_pooled_windows(Device& device) {
    using Max = fk::Pool<fk::Max, 2, 2>;
    using Average = fk::Pool<fk::Average, 2, 2>;
    for (PooledLayouts const& layouts :
         {PooledLayouts{"nchw", "nchw"}, PooledLayouts{"nhwc", "nhwc"}, PooledLayouts{"nhwc", "nchw"},
          PooledLayouts{"nchw+1", "nchw*2"}, PooledLayouts{"nchw!8", "nchw!-3"}}) {
        for (oracle::Shape const& shape : {oracle::Shape{2, 8, 4, 8}, {3, 5, 6, 10}, {1, 37, 2, 2}, {2, 1, 4, 70}}) {
            check_pooled_pointwise<Max, float, 4>(device, layouts, shape);
            check_pooled_pointwise<Average, float, 4>(device, layouts, shape);
            check_pooled_pointwise<Max, fk::half, 4>(device, layouts, shape);
            check_pooled_pointwise<Average, fk::bfloat16, 4>(device, layouts, shape);
        }
        for (oracle::Shape const& shape :
             {oracle::Shape{2, 8, 7, 7}, {1, 33, 1, 1}, {3, 5, 9, 13}, {17, 3, 4, 4}, {4, 1, 2, 1}}) {
            check_pooled_pointwise<fk::GlobalAverage, float, 4>(device, layouts, shape);
            check_pooled_pointwise<fk::GlobalAverage, fk::half, 4>(device, layouts, shape);
            check_pooled_pointwise<fk::GlobalAverage, fk::bfloat16, 4>(device, layouts, shape);
        }
    }
    check_pooled_pointwise<fk::GlobalAverage, float, 3>(device, {"ncw", "nwc"}, {2, 6, 1, 21});
    check_pooled_pointwise<fk::GlobalAverage, float, 5>(device, {"ndhwc", "ncdhw"}, {2, 5, 3, 4, 2});
}

}  // namespace test
