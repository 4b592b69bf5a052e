// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "fusekit/fusekit.hpp"
#include "support/difference.hpp"
#include "support/element_types.hpp"
#include "support/filled.hpp"
#include "support/pooled_windows.hpp"

/// Plans that begin with an operator which reads a few values of x for each value of y: upsampling, pixel shuffles,
/// gradients of pools.
namespace test {

/// y by definition: value(n, k, p, q) for each element.
template <class Value>
oracle::Tensor tabulate(oracle::Shape const& shape, Value const& value) {
    oracle::Tensor y(shape);
    std::size_t i = 0;
    for (std::int64_t n = 0; n < shape.n; ++n)
        for (std::int64_t k = 0; k < shape.c; ++k)
            for (std::int64_t p = 0; p < shape.h; ++p)
                for (std::int64_t q = 0; q < shape.w; ++q) y.at[i++] = value(n, k, p, q);
    return y;
}

inline Bounded element(oracle::Tensor const& x, std::int64_t n, std::int64_t k, std::int64_t h, std::int64_t w) {
    return x.at[static_cast<std::size_t>(((n * x.shape.c + k) * x.shape.h + h) * x.shape.w + w)];
}

inline oracle::Tensor nearest(oracle::Tensor const& x, std::int64_t rows, std::int64_t columns) {
    return tabulate({x.shape.n, x.shape.c, x.shape.h * rows, x.shape.w * columns},
                    [&](auto n, auto k, auto p, auto q) { return element(x, n, k, p / rows, q / columns); });
}

/// Interpolation at half-pixel centers, in double. A float result has three roundings in each of three interpolations.
inline oracle::Tensor bilinear(oracle::Tensor const& x, std::int64_t rows, std::int64_t columns) {
    auto const clamped = [](double at, std::int64_t extent) {
        return std::fmin(std::fmax(at, 0), static_cast<double>(extent - 1));
    };
    return tabulate({x.shape.n, x.shape.c, x.shape.h * rows, x.shape.w * columns}, [&](auto n, auto k, auto p, auto q) {
        double const h = clamped((static_cast<double>(p) + 0.5) / static_cast<double>(rows) - 0.5, x.shape.h),
                     w = clamped((static_cast<double>(q) + 0.5) / static_cast<double>(columns) - 0.5, x.shape.w);
        double value = 0, magnitude = 0;
        for (auto i = static_cast<std::int64_t>(std::floor(h)); i <= static_cast<std::int64_t>(std::ceil(h)); ++i)
            for (auto j = static_cast<std::int64_t>(std::floor(w)); j <= static_cast<std::int64_t>(std::ceil(w)); ++j) {
                double const term = element(x, n, k, i, j).value * (1 - std::fabs(h - static_cast<double>(i))) *
                                    (1 - std::fabs(w - static_cast<double>(j)));
                value += term, magnitude += std::fabs(term);
            }
        return Bounded{value, 10 * Bounded::unit * magnitude};
    });
}

/// Depth to space: each block of factor x factor pixels is factor^2 channels of one pixel of x.
inline oracle::Tensor shuffled(oracle::Tensor const& x, std::int64_t factor) {
    oracle::Tensor y({x.shape.n, x.shape.c / factor / factor, x.shape.h * factor, x.shape.w * factor});
    std::size_t i = 0;
    for (std::int64_t n = 0; n < x.shape.n; ++n)
        for (std::int64_t k = 0; k < y.shape.c; ++k)
            for (std::int64_t row = 0; row < factor; ++row)
                for (std::int64_t column = 0; column < factor; ++column)
                    for (std::int64_t h = 0; h < x.shape.h; ++h)
                        for (std::int64_t w = 0; w < x.shape.w; ++w)
                            y.at[static_cast<std::size_t>(((n * y.shape.c + k) * y.shape.h + h * factor + row) *
                                                              y.shape.w +
                                                          w * factor + column)] = x.at[i++];
    return y;
}

/// Runs a plan of Op alone, and one with Bias, Residual and Relu after it; `expected` is the result of Op on x.
template <class Op, class T, class Device>
void check_gathered(Device& device, PooledLayouts const& layouts, oracle::Tensor const& x,
                    oracle::Tensor const& expected, typename Op::Args const& args) {
    oracle::Shape const shape = expected.shape;
    INFO(fk::type_name<Op>() << ' ' << layouts.x << ' ' << layouts.y << ' ' << x.shape.n << 'x' << x.shape.c << 'x'
                             << x.shape.h << 'x' << x.shape.w << ' ' << name_of_types<T>());
    std::vector<double> values(x.at.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = x.at[i].value;
    Filled<XOf<T>, Device, 4> in(device, layouts.x, x.shape, values),
        z(device, layouts.y, shape, integers(shape.size(), -5, 5, 6));
    auto const bias = integers(shape.c, -3, 3, 5);
    Placed<Device, 1> b(device, fk::DataType::float32, fk::channels(shape.c), bias);
    Placed<Device, 4> y(device, fk::data_type<YOf<T>>, layout_of<4>(layouts.y, shape), 64),
        fused(device, fk::data_type<YOf<T>>, layout_of<4>(layouts.y, shape), 64);
    fk::Plan<Op>::bind(args)(device, in.view(), y.template view<YOf<T>>());
    CHECK(difference(expected, y.fetch()) == "");
    fk::Plan<Op, fk::Bias, fk::Residual, fk::Activation<fk::Relu>>::bind(
        args, {.bias = b.any()}, {.z = z.view(), .alpha2 = 2}, {})(device, in.view(), fused.template view<YOf<T>>());
    auto const after = oracle::activation(oracle::residual(oracle::bias(expected, bias), z.values, 2), {"relu"});
    CHECK(difference(after, fused.fetch()) == "");
}

/// Layouts of which some are read in vectors of channels, some written in vectors of pixels, and some are channel
/// slices with gaps.
inline constexpr PooledLayouts gathered_layouts[] = {{"nchw", "nchw"},    {"nhwc", "nhwc"},     {"nhwc", "nchw"},
                                                     {"nchw", "nhwc"},    {"nchw!8", "nhwc*2"}, {"nhwc+8", "nhwc+8"},
                                                     {"nhwc+1", "nchw+1"}};

/// `all`: other factors too, which differ in their arithmetic alone.
template <class T, bool all, class Device>
void check_upsampling(Device& device) {
    for (PooledLayouts const& layouts : gathered_layouts)
        for (oracle::Shape const& shape : {oracle::Shape{2, 16, 3, 4}, {3, 5, 4, 7}, {1, 8, 1, 8}}) {
            oracle::Tensor const x(shape, integers(shape.size(), -9, 9, 3));
            check_gathered<fk::UpsampleNearest<2>, T>(device, layouts, x, nearest(x, 2, 2), {});
            check_gathered<fk::UpsampleBilinear<3, 4>, T>(device, layouts, x, bilinear(x, 3, 4), {});
            if constexpr (all) {
                check_gathered<fk::UpsampleNearest<1, 3>, T>(device, layouts, x, nearest(x, 1, 3), {});
                check_gathered<fk::UpsampleBilinear<2>, T>(device, layouts, x, bilinear(x, 2, 2), {});
            }
        }
}

template <class T, bool all, class Device>
void check_pixel_shuffles(Device& device) {
    for (PooledLayouts const& layouts : gathered_layouts)
        for (oracle::Shape const& shape : {oracle::Shape{2, 16, 3, 4}, {3, 36, 2, 5}, {1, 36, 1, 8}}) {
            oracle::Tensor const x(shape, integers(shape.size(), -9, 9, 3));
            check_gathered<fk::PixelShuffle<2>, T>(device, layouts, x, shuffled(x, 2), {});
            check_gathered<fk::PixelUnshuffle<2>, T>(device, layouts, shuffled(x, 2), x, {});
            if constexpr (all)
                if (shape.c == 36) check_gathered<fk::PixelShuffle<3>, T>(device, layouts, x, shuffled(x, 3), {});
        }
}

/// Operators that store a tensor and a maximum after upsampling.
template <class Device>
void check_stored_upsampling(Device& device) {
    oracle::Shape const shape{2, 8, 3, 4};
    oracle::Tensor const x(shape, integers(shape.size(), -9, 9, 3)), expected = nearest(x, 2, 2);
    std::vector<double> values(x.at.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = x.at[i].value;
    for (char const* layout : {"nchw", "nhwc"}) {
        Filled<fk::half, Device, 4> in(device, layout, shape, values);
        Placed<Device, 4> y(device, fk::DataType::float16, layout_of<4>(layout, expected.shape), 64),
            stored(device, fk::DataType::float32, layout_of<4>(layout, expected.shape), 64);
        Placed<Device, 1> amax(device, fk::DataType::float32, fk::channels(1), std::vector<double>{0});
        fk::Plan<fk::UpsampleNearest<2>, fk::Store, fk::Amax, fk::Activation<fk::Relu>>::bind(
            {}, {.values = stored.template view<float>()}, {.amax = amax.template view<float>()}, {})(
            device, in.view(), y.template view<fk::half>());
        CHECK(difference(oracle::activation(expected, {"relu"}), y.fetch()) == "");
        CHECK(difference(expected, stored.fetch()) == "");
        CHECK(difference(oracle::Tensor({1, 1, 1, 1}, {9}), amax.fetch()) == "");
    }
}

/// A mean's gradient for dx of these extents.
template <class Of, class T, auto... Window, class Device>
void check_mean_gradient(Device& device, PooledLayouts const& layouts, oracle::Shape const& shape) {
    using Pool = fk::Pool<Of, Window...>;
    oracle::Window const f = pool_window_of(Pool::geometry);
    oracle::PoolRules const rules{std::is_same_v<Of, fk::AverageWithPadding>, Pool::rounds_up};
    oracle::Shape const outputs = oracle::pool(oracle::Tensor(shape), false, f, rules).shape;
    oracle::Tensor const dy(outputs, integers(outputs.size(), -9, 9, 3));
    check_gathered<fk::PoolGradient<Of, Window...>, T>(device, layouts, dy,
                                                       oracle::pool_gradient(dy, shape, f, rules, nullptr), {});
}

/// A maximum with its taps, after other operators too, and its gradient.
template <class T, auto... Window, class Device>
void check_tapped(Device& device, PooledLayouts const& layouts, oracle::Shape const& shape) {
    using Pool = fk::Pool<fk::MaxWithTaps, Window...>;
    INFO(fk::type_name<Pool>() << ' ' << layouts.x << ' ' << layouts.y << ' ' << shape.n << 'x' << shape.c << 'x'
                               << shape.h << 'x' << shape.w << ' ' << name_of_types<T>());
    oracle::Window const f = pool_window_of(Pool::geometry);
    oracle::PoolRules const rules{false, Pool::rounds_up};
    Filled<XOf<T>, Device, 4> x(device, layouts.x, shape, integers(shape.size(), -3, 3, 3));  // with equal values
    auto const bias = integers(shape.c, -1, 1, 5);
    Placed<Device, 1> b(device, fk::DataType::float32, fk::channels(shape.c), bias);
    auto const before = oracle::activation(oracle::bias(oracle::Tensor(shape, x.values), bias), {"relu"});
    auto const expected = oracle::pool(before, true, f, rules), taps = oracle::pool_taps(before, f, rules);
    Placed<Device, 4> y(device, fk::data_type<YOf<T>>, layout_of<4>(layouts.y, expected.shape), 64),
        placed_taps(device, fk::DataType::int8, layout_of<4>(layouts.y, expected.shape), 64);
    fk::Plan<fk::Bias, fk::Activation<fk::Relu>, Pool>::bind(
        {.bias = b.any()}, {}, {.taps = placed_taps.template view<fk::int8>()})(device, x.view(),
                                                                                y.template view<YOf<T>>());
    CHECK(difference(expected, y.fetch()) == "");
    CHECK(difference(taps, placed_taps.fetch()) == "");
    oracle::Tensor const dy(expected.shape, integers(expected.shape.size(), -9, 9, 8));
    check_gathered<fk::PoolGradient<fk::MaxWithTaps, Window...>, T>(
        device, {layouts.y, layouts.x}, dy, oracle::pool_gradient(dy, shape, f, rules, &taps),
        {.taps = placed_taps.template view<fk::int8 const>()});
}

template <class T, class Device>
void check_pool_gradients(Device& device) {
    for (PooledLayouts const& layouts : gathered_layouts)
        for (oracle::Shape const& shape : {oracle::Shape{2, 16, 6, 8}, {3, 5, 10, 12}, {1, 8, 4, 6}}) {
            check_mean_gradient<fk::Average, T, 2, 2>(device, layouts, shape);
            check_mean_gradient<fk::Average, T, fk::filter(3, 3).pad(1)>(device, layouts, shape);
            check_mean_gradient<fk::AverageWithPadding, T, fk::filter(2, 4).stride(1, 3).pad(1, 3, 0, 2),
                                fk::ceil_mode>(device, layouts, shape);
            check_tapped<T, fk::filter(3, 3).stride(2).pad(1)>(device, layouts, shape);
            check_tapped<T, fk::filter(2, 3).stride(3, 2).pad(0, 1), fk::ceil_mode>(device, layouts, shape);
        }
}

/// Means with counted padding, and extents rounded up.
template <class Device>
void check_pool_rules(Device& device) {
    for (PooledLayouts const& layouts :
         {PooledLayouts{"nchw", "nchw"}, PooledLayouts{"nhwc", "nhwc"}, PooledLayouts{"nchw!8", "nhwc+8"}})
        for (oracle::Shape const& shape : {oracle::Shape{2, 16, 7, 8}, {2, 3, 9, 37}, {3, 8, 3, 3}}) {
            check_pooled_filter<fk::Pool<fk::AverageWithPadding, fk::filter(3, 3).pad(1)>, fk::half>(device, layouts,
                                                                                                     shape);
            check_pooled_filter<
                fk::Pool<fk::AverageWithPadding, fk::filter(2, 4).stride(1, 3).pad(1, 3, 0, 2), fk::ceil_mode>, float>(
                device, layouts, shape);
            check_pooled_filter<fk::Pool<fk::Average, fk::filter(3, 3).stride(2), fk::ceil_mode>, fk::bfloat16>(
                device, layouts, shape);
            check_pooled_filter<fk::Pool<fk::Max, fk::filter(2, 3).stride(3, 4).pad(1), fk::ceil_mode>, float>(
                device, layouts, shape);
        }
}

}  // namespace test
