// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support/effort.hpp"
#include "support/run_training.hpp"

namespace test {

namespace detail {

inline constexpr auto keep_numbers = [](Problem&) {};

/// Runs forward and backward on the numbers of a case, modified by `change`.
template <class T, class Norm, class... Rest>
void check_training_of(Case const& about, auto& device, std::function<void(Problem&)> const& change = keep_numbers) {
    using Device = std::remove_reference_t<decltype(device)>;
    Problem problem(about);
    change(problem);
    INFO(about.print() << ' ' << name_of_types<T>());
    CHECK(run_training<Device, T, 2, Norm, Rest...>(problem, problem.expected(), device) == "");
    CHECK(run_training_backward<Device, T, 2, Norm, Rest...>(problem, device) == "");
}

using SpatialNorm = fk::BatchNormTraining<fk::Spatial>;
using PlaceNorm = fk::BatchNormTraining<fk::PerActivation>;

/// Batch norm per channel and, if `per_pixel`, per pixel too.
template <class T, bool per_pixel = true>
void check_training_of(Case about, auto& device, std::function<void(Problem&)> const& change = keep_numbers) {
    about.type = about.parameters = fk::data_type<XOf<T>>;
    about.form = "TA", about.mode = "relu";
    check_training_of<T, SpatialNorm, fk::Activation<fk::Relu>>(about, device, change);
    if constexpr (per_pixel) {
        about.form = "UA", about.mode = "tanh";
        check_training_of<T, PlaceNorm, fk::Activation<fk::Tanh>>(about, device, change);
    }
}

inline Case training_case(oracle::Shape shape, std::string const& layouts, bool real) {
    Case about;
    about.x = shape, about.k = shape.c;
    about.x_layout = layouts.substr(0, layouts.find('>'));
    about.y_layout = layouts.substr(layouts.find('>') + 1);
    about.real = real;
    about.seed = static_cast<std::uint64_t>(shape.size()) + layouts.size();
    return about;
}

}  // namespace detail

/// Edge shapes: planes smaller than a vector or a pack, and no multiple of one; one pixel, one image, one channel;
/// channel counts that are no multiple; more images than are accumulated at once.
template <class T>
void check_training_of_odd_shapes(auto& device, Pairs pairs = {}) {
    oracle::Shape const shapes[] = {{2, 5, 7, 7},   {3, 6, 7, 9},  {2, 3, 55, 55}, {2, 4, 1, 1}, {1, 5, 6, 7},
                                    {4, 1, 5, 5},   {3, 7, 1, 3},  {2, 17, 3, 5},  {5, 2, 1, 1}, {1, 3, 1, 1},
                                    {300, 3, 1, 2}, {2, 70, 2, 2}, {4, 1, 2, 1},   {8, 3, 1, 1}};
    std::vector<char const*> layouts_of = {"nchw", "nhwc"};
    if (sizeof(T) == 4) layouts_of = {"nchw", "nhwc", "nchw+1", "nhwc>nchw", "chwn", "nchw-nw>nchw!8"};
    for (oracle::Shape const& shape : shapes) {
        for (char const* layouts : layouts_of) {
            if (!pairs.runs()) continue;
            if (shape.size() > 10000 && layouts != layouts_of[0] && layouts != layouts_of[1]) continue;
            detail::check_training_of<T>(detail::training_case(shape, layouts, true), device);
        }
        pairs.next(static_cast<int>(layouts_of.size()));
    }
}

/// Integers with exact statistics, sums and results, for any summation order.
template <class T, bool per_pixel = true>
void check_training_of_integers(auto& device, Pairs pairs = {}) {
    for (oracle::Shape const& shape : {oracle::Shape{4, 5, 8, 8}, {16, 8, 4, 8}, {4, 2, 16, 32}})
        for (char const* layouts : {"nchw", "nhwc", "nchw>nhwc"})
            if (pairs.runs())
                detail::check_training_of<T, per_pixel>(detail::training_case(shape, layouts, false), device);
}

/// Channels whose mean is 10,000 times their deviation, whose first value is an outlier, whose values are equal, or
/// whose squares, or the sum of the squares, are near or beyond the largest float.
template <bool per_pixel = true>
void check_training_of_hard_numbers(auto& device, Pairs pairs = {}) {
    std::function<void(Problem&)> const changes[] = {
        [](Problem& p) {
            for (double& x : p.x) x = static_cast<float>(10000 + 1.7 * x);
        },
        [](Problem& p) {
            for (auto const& group : oracle::sharing({p.about.x, p.x}, p.about.form[0] == 'U')) p.x[group[0]] = 10000;
        },
        [](Problem& p) {
            for (double& x : p.x) x = static_cast<float>(0.1);
        },
        [](Problem& p) {
            for (double& x : p.x) x = static_cast<float>(x * 1e17);
        },
        [](Problem& p) {
            for (double& x : p.x) x = static_cast<float>(x * 4e18);
        },
        [](Problem& p) {
            for (auto const& group : oracle::sharing({p.about.x, p.x}, p.about.form[0] == 'U')) p.x[group[0]] = 3e19f;
        }};
    for (auto const& change : changes)
        for (char const* layouts : {"nchw", "nhwc", "nhwc>nchw"})
            if (pairs.runs())
                detail::check_training_of<float, per_pixel>(detail::training_case({9, 5, 13, 11}, layouts, true),
                                                            device, change);
}

/// Variance of such a channel to 4 digits: summing squares of the unshifted values would lose all of them.
void check_variance_of_far_values(auto& device) {
    for (auto const& layout : {fk::nchw(16, 3, 28, 28), fk::nhwc(16, 28, 28, 3)}) {
        auto x = fk::random<float>(device, layout);
        std::vector<float> values(static_cast<std::size_t>(x.size())), inverse(3);
        x.copy_to(values.data());
        for (float& value : values) value = 10000 + 1.7f * value;
        x.copy_from(values.data());
        auto const ones = fk::tensor<float>(device, fk::channels(3), {1, 1, 1});
        auto saved = fk::tensor<float>(device, fk::channels(3), {0, 0, 0});
        (void)fk::Plan<detail::SpatialNorm>::bind({.scale = ones, .shift = ones, .saved_inverse_deviation = saved})(
            device, x);
        saved.copy_to(inverse.data());
        for (int k = 0; k < 3; ++k) {
            double sum = 0, squares = 0;
            auto const each = [&](auto const& f) {
                for (std::int64_t i = 0; i < x.size() / 3; ++i)
                    f(double{values[static_cast<std::size_t>(layout.offset({{i / 784, k, i / 28 % 28, i % 28}}))]});
            };
            each([&](double value) { sum += value; });
            double const count = 16 * 784, mean = sum / count;
            each([&](double value) { squares += (value - mean) * (value - mean); });
            double const expected = 1 / std::sqrt(squares / count + 1e-5f);
            CHECK(std::fabs(inverse[static_cast<std::size_t>(k)] - expected) < 1e-4 * expected);
        }
    }
}

/// An infinite or NaN value makes its channel NaN, and no other.
void check_training_of_no_numbers(auto& device) {
    for (float const bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        auto x = fk::random<float>(device, fk::nchw(2, 3, 5, 7));
        std::vector<float> values(210), y(210);
        x.copy_to(values.data());
        values[35 + 11] = bad;  // in channel 1
        x.copy_from(values.data());
        auto const ones = fk::tensor<float>(device, fk::channels(3), {1, 1, 1});
        fk::Plan<detail::SpatialNorm>::bind({.scale = ones, .shift = ones})(device, x).copy_to(y.data());
        int wrong = 0;
        for (std::size_t i = 0; i < 210; ++i) wrong += std::isnan(y[i]) != (i / 35 % 3 == 1);
        CHECK(wrong == 0);
    }
}

/// All outputs of a forward and a backward run, as bits.
template <class Norm>
std::vector<float> bits_of_training(auto& device, fk::Layout<4> const& layout) {
    fk::Index<4> const n = layout.shape;
    auto const x = fk::random<float>(device, layout, 1), dy = fk::random<float>(device, layout, 2);
    auto const parameters = [&] {
        if constexpr (Norm::per_pixel) return fk::chw(n[1], n[2], n[3]);
        else return fk::channels(n[1]);
    }();
    auto const scale = fk::random<float>(device, parameters, 3), shift = fk::random<float>(device, parameters, 4);
    auto mean = fk::random<float>(device, parameters, 5), inverse = fk::random<float>(device, parameters, 6);
    auto dscale = fk::random<float>(device, parameters, 7), dshift = fk::random<float>(device, parameters, 8);
    using Layer = fk::Plan<Norm, fk::Activation<fk::Silu>>;
    auto const layer =
        Layer::bind({.scale = scale, .shift = shift, .saved_mean = mean, .saved_inverse_deviation = inverse}, {});
    auto const y = layer(device, x);
    auto const dx = fk::Backward<Layer>::bind(layer, x, {.scale = dscale, .shift = dshift}, {})(device, dy);
    std::vector<float> bits;
    auto const add = [&](auto const& tensor) {
        std::size_t const at = bits.size();
        bits.resize(at + static_cast<std::size_t>(tensor.size()));
        tensor.copy_to(bits.data() + at);
    };
    add(y), add(dx), add(mean), add(inverse), add(dscale), add(dshift);
    return bits;
}

}  // namespace test
