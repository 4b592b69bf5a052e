// SPDX-License-Identifier: MIT
#pragma once

#include "support/transposed_convolutions.hpp"

namespace test {

/// Checks a convolution of integers from x to k channels, in each of the layouts.
template <class Layouts, class T, auto Geometry, class Head = fk::Conv<Geometry>, class Device>
void check_conv(Device& device, oracle::Shape const& x, std::int64_t k) {
    constexpr int rank = Geometry.rank + 2;
    using U = std::conditional_t<sizeof(T) == 1, float, T>;
    oracle::Window const window = GeometryOf<Geometry.rank>::window(Geometry);
    oracle::Shape const y = output_of(window, x, k), filter{k, x.c / window.groups, window.r, window.s, window.t};
    auto const values = integers(x.size(), -3, 4, 1), weights = integers(filter.size(), -2, 2, 2),
               bias = integers(k, -3, 3, 3);
    oracle::Tensor const expected = oracle::bias(oracle::conv(oracle::Tensor(x, values), weights, k, window), bias);
    Placed<Device, 1> b(device, fk::DataType::float32, fk::channels(k), bias);
    for (auto const& [x_layout, w_layout, y_layout] : Layouts::all) {
        INFO(fk::type_name<Head>() << ' ' << fk::name(fk::data_type<T>) << " from " << x.c << " to " << k << ' ' << x.h
                                   << ' ' << x.w << ", " << x_layout << ' ' << w_layout);
        Filled<T, Device, rank> in(device, x_layout, x, values), w(device, w_layout, filter, weights);
        Placed<Device, rank> out(device, fk::data_type<U>, layout_of<rank>(y_layout, y), 64);
        fk::Plan<Head, fk::Bias>::bind({.weights = w.view()}, {.bias = b.any()})(device, in.view(),
                                                                                 out.template view<U>());
        CHECK(difference(expected, out.fetch()) == "");
    }
}

/// Checks a convolution and its transpose.
template <class Layouts, class T, auto Geometry, class Head = fk::Conv<Geometry>, class Device>
void check_both_ways(Device& device, oracle::Shape const& x, std::int64_t k) {
    check_transposed<T, Geometry, false, Layouts>(device, x, k);
    check_conv<Layouts, T, Geometry, Head>(device, x, k);
}

}  // namespace test
