// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "fusekit/fusekit.hpp"
#include "support/effort.hpp"
#include "support/filled.hpp"

namespace test {

/// Number of elements of two tensors of one layout that differ in their bits.
template <int Rank>
int differences(Memory<Rank> const& a, Memory<Rank> const& b) {
    int count = 0;
    a.for_each([&](std::int64_t at) { count += a.bits(at) != b.bits(at); });
    return count;
}

/// A layer gives bitwise identical results with y = x.
template <class T, int Rank, class Device>
void check_x_is_y(Device& device, std::string const& layout, oracle::Shape shape, auto const& layer) {
    INFO(layout << ' ' << shape.n << 'x' << shape.c << 'x' << shape.h << 'x' << shape.w);
    Filled<T, Device, Rank> x(device, layout, shape, integers(shape.size(), -9, 9, 3));
    Placed<Device, Rank> y(device, fk::data_type<T>, layout_of<Rank>(layout, shape), 64),
        own(device, fk::data_type<T>, layout_of<Rank>(layout, shape), x.values);
    layer(device, x.view(), y.template view<T>());
    layer(device, own.template view<T>(), own.template view<T>());
    CHECK(differences(y.fetch(), own.fetch()) == 0);
    CHECK(own.fetch().untouched());
}

/// y = layer(x) + beta y is bitwise identical to y = layer(x) + beta z. `make(z)` binds the layer.
template <class T, int Rank, class Device, class Make>
void check_z_is_y(Device& device, fk::TensorView<T const, Rank> const& x, std::string const& layout,
                  oracle::Shape shape, Make const& make) {
    INFO(layout << ' ' << shape.n << 'x' << shape.c << 'x' << shape.h << 'x' << shape.w);
    auto const before = integers(shape.size(), -5, 5, 7);
    Filled<T, Device, Rank> z(device, layout, shape, before);
    Placed<Device, Rank> y(device, fk::data_type<T>, layout_of<Rank>(layout, shape), 64),
        own(device, fk::data_type<T>, layout_of<Rank>(layout, shape), before);
    make(z.view())(device, x, y.template view<T>());
    make(own.template view<T const>())(device, x, own.template view<T>());
    CHECK(differences(y.fetch(), own.fetch()) == 0);
    CHECK(own.fetch().untouched());
}

template <class T, class Device>
void check_in_place_of(Device& device) {
    using Relu = fk::Activation<fk::Relu>;
    INFO(fk::name(fk::data_type<T>));
    char const* layouts[] = {"nchw", "nhwc", "nchw+1", "nhwc*2", "nchw!8", "nchw*3"};
    oracle::Shape const shapes[] = {{2, 3, 5, 7}, {3, 37, 1, 5}, {2, 8, 4, 8}, {5, 16, 7, 7}, {1, 1, 1, 67}};
    int pair = 0;  // five shapes for each layout: layouts alternate in their first shape
    for (char const* layout : layouts)
        for (oracle::Shape const& shape : shapes) {
            if (pair++ % one_pair_in) continue;
            struct Parameters : Placed<Device, 1> {
                Parameters(Device& device, std::int64_t k, std::int64_t low, std::int64_t high, std::uint64_t seed)
                    : Placed<Device, 1>(device, fk::DataType::float32, fk::channels(k), integers(k, low, high, seed)) {}
                auto view() { return Placed<Device, 1>::template view<float const>(); }
            };
            Parameters mean(device, shape.c, -2, 2, 1), variance(device, shape.c, 1, 4, 2),
                scale(device, shape.c, 1, 3, 3), shift(device, shape.c, -3, 3, 4);
            check_x_is_y<T, 4>(device, layout, shape, fk::Plan<Relu>::bind({}));
            check_x_is_y<T, 4>(device, layout, shape,
                               fk::Plan<fk::BatchNormInference<fk::Spatial>, Relu>::bind(
                                   {mean.view(), variance.view(), scale.view(), shift.view()}, {}));
            check_x_is_y<T, 4>(
                device, layout, shape,
                fk::Plan<fk::BatchNormTraining<fk::Spatial>, Relu>::bind({scale.view(), shift.view()}, {}));
            // x, z and y are one tensor
            Placed<Device, 4> all(device, fk::data_type<T>, layout_of<4>(layout, shape),
                                  integers(shape.size(), -5, 5, 7)),
                twice(device, fk::data_type<T>, layout_of<4>(layout, shape), 64);
            Filled<T, Device, 4> x(device, layout, shape, integers(shape.size(), -5, 5, 7));
            using Add = fk::Plan<fk::Residual, Relu>;
            Add::bind({.z = x.view()}, {})(device, x.view(), twice.template view<T>());
            Add::bind({.z = all.template view<T const>()}, {})(device, all.template view<T>(), all.template view<T>());
            CHECK(differences(all.fetch(), twice.fetch()) == 0);
            // after batch statistics
            check_z_is_y<T>(device, x.view(), layout, shape, [&](auto const& z) {
                return fk::Plan<fk::BatchNormTraining<fk::Spatial>, fk::Residual>::bind({scale.view(), shift.view()},
                                                                                        {z, 0.5f});
            });
            // dx over dy, and over the forward run's x
            using Layer = fk::Plan<fk::Bias, Relu>;
            Placed<Device, 1> sums(device, fk::DataType::float32, fk::channels(shape.c), 64);
            check_x_is_y<T, 4>(device, layout, shape,
                               fk::Backward<Layer>::bind(Layer::bind({.bias = shift.view()}, {}), x.view(),
                                                         {.bias = sums.template view<float>()}, {}));
            check_z_is_y<T>(device, x.view(), layout, shape, [&](auto const& saved) {
                return fk::Backward<Layer>::bind(Layer::bind({.bias = shift.view()}, {}), saved);
            });
        }
}

template <class T, class Device>
void check_beta_of(Device& device) {
    using Conv = fk::Conv<fk::dynamic>;
    INFO(fk::name(fk::data_type<T>));
    struct Case {
        oracle::Shape x;
        std::int64_t k;
        oracle::Window window;
    };
    Case const cases[] = {{{2, 5, 6, 7}, 9, {.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1}},
                          {{1, 32, 7, 7}, 70, {}},
                          {{2, 37, 5, 9}, 37, {.r = 3, .s = 3, .top = 1, .bottom = 1, .groups = 37}}};
    for (char const* layout : {"nchw", "nhwc", "nchw+1", "nhwc*2"})
        for (Case const& one : cases) {
            oracle::Shape const filter{one.k, one.x.c / one.window.groups, one.window.r, one.window.s};
            Filled<T, Device, 4> x(device, layout, one.x, integers(one.x.size(), -2, 2, 3));
            Filled<T, Device, 4> w(device, "nchw", filter, integers(filter.size(), -1, 1, 4));
            oracle::Shape const y = oracle::conv(oracle::Tensor(one.x, x.values), w.values, one.k, one.window).shape;
            check_z_is_y<T>(device, x.view(), layout, y, [&](auto const& z) {
                return fk::Plan<Conv, fk::Residual, fk::Activation<fk::Relu>>::bind(
                    {.weights = w.view(), .filter = filter_of(one.window)}, {z, 0.5f}, {});
            });
        }
}

/// Plans that run in place, and plans that accumulate into y; convolutions of float run on `convolutions`.
template <class Device>
void check_in_place(Device& device, auto& convolutions) {
    check_in_place_of<float>(device);
    check_in_place_of<fk::half>(device);
    check_beta_of<float>(convolutions);
    check_beta_of<fk::half>(device);
}

}  // namespace test
