// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/difference.hpp"
#include "support/filled.hpp"
#include "support/oracle.hpp"
#include "support/placed.hpp"

/// Amax: the largest magnitude of the values that pass it, and y unchanged by it.
namespace test {

/// Convolutions of integers whose largest magnitude is that of a negative number; `before`: initial value of amax. T
/// and Y: element types of x and y.
template <class T, class Y, class Device>
void check_amax(Device& device, std::string const& layout, oracle::Shape const& shape, std::int64_t k, float before) {
    CAPTURE(layout, shape.c, k, before);
    oracle::Window const same{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1};
    auto const x = integers(shape.size(), -2, 2, 1), w = integers(k * shape.c * 9, -2, 2, 2),
               b = integers(k, -40, -9, 3);
    oracle::Tensor const sums = oracle::bias(oracle::conv({shape, x}, w, k, same), b);
    oracle::Tensor const expected = oracle::scale(oracle::activation(sums, oracle::Mode{"abs"}), 0.5);
    double largest = before;
    for (auto const& each : sums.at) largest = std::fmax(largest, std::fabs(each.value));

    bool const last = layout == "nhwc";
    Placed<Device, 4> of_x(device, fk::data_type<T>, layout_of<4>(layout, shape), x),
        of_w(device, fk::data_type<T>, layout_of<4>(last ? "krsc" : "kcrs", {k, shape.c, 3, 3}), w),
        y(device, fk::data_type<Y>, layout_of<4>(layout, sums.shape), 64);
    Placed<Device, 1> of_b(device, fk::DataType::float32, fk::channels(k), b),
        amax(device, fk::DataType::float32, fk::channels(1), std::vector<double>{before}),
        scaled(device, fk::DataType::float32, fk::channels(1), std::vector<double>{0});
    fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Amax, fk::Activation<fk::Abs>, fk::Scale, fk::Amax>::bind(
        {.weights = of_w.any()}, {.bias = of_b.any()}, {.amax = amax.template view<float>()}, {}, {.factor = 0.5f},
        {.amax = scaled.template view<float>()})(device, of_x.template view<T const>(), y.template view<Y>());
    CHECK(difference(expected, y.fetch()) == "");
    CHECK(amax.fetch().get(0) == largest);
    double largest_scaled = 0;
    for (auto const& each : expected.at) largest_scaled = std::fmax(largest_scaled, each.value);
    CHECK(scaled.fetch().get(0) == largest_scaled);
}

/// A single NaN makes the maximum NaN, for any initial value.
template <class Device>
void check_amax_of_nan(Device& device) {
    for (double const value : {-7.0, std::nan("")}) {
        std::vector<double> values(3 * 5 * 7, 1);
        values[52] = value;
        Placed<Device, 4> x(device, fk::DataType::float32, fk::nchw(1, 3, 5, 7), values),
            y(device, fk::DataType::float32, fk::nchw(1, 3, 5, 7), 64);
        Placed<Device, 1> amax(device, fk::DataType::float32, fk::channels(1), std::vector<double>{2});
        fk::Plan<fk::Amax>::bind({.amax = amax.template view<float>()})(device, x.template view<float const>(),
                                                                        y.template view<float>());
        y.fetch();
        double const found = amax.fetch().get(0);
        CHECK((std::isnan(value) ? std::isnan(found) : found == 7));
    }
}

}  // namespace test
