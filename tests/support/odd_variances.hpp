// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "fusekit/fusekit.hpp"

namespace test {

namespace fk = fusekit;

/// Batch norm at inference with, per channel, a variance that is negative (as if mean and variance were swapped),
/// ordinary, subnormal, infinite, and NaN: the first and the last give NaN, the others the equation's value.
template <class T, class Mode, class Device>
void check_odd_variances(Device& device) {
    constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> const variances{-0.5f, 4, 1e-44f, infinity, -infinity, -1e-44f, nan};
    std::int64_t const channels = 7;
    constexpr bool per_pixel = std::is_same_v<Mode, fk::PerActivation>;
    using Parameter = fk::Tensor<float, Device, per_pixel ? 3 : 1>;
    auto const filled = [&](auto const& value) {
        std::vector<float> values(per_pixel ? 7 * 15 : 7);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(per_pixel ? i / 15 : i);
        auto const layout = [&] {
            if constexpr (per_pixel) return fk::chw(7, 3, 5);
            else return fk::channels(7);
        }();
        Parameter parameter(device, layout);
        parameter.copy_from(values.data());
        return parameter;
    };
    auto const mean = filled([](auto) { return 1.0f; }), scale = filled([](auto) { return 2.0f; });
    auto const shift = filled([](auto) { return 3.0f; }), variance = filled([&](auto k) { return variances[k]; });
    for (bool const last : {false, true}) {
        fk::Tensor<T, Device> x(device, last ? fk::nhwc(2, 3, 5, channels) : fk::nchw(2, channels, 3, 5));
        std::vector<T> values(static_cast<std::size_t>(x.size()), T{3});
        x.copy_from(values.data());
        using Plan = fk::Plan<fk::BatchNormInference<Mode>, fk::Activation<fk::Relu>>;
        Plan::bind({.mean = mean, .variance = variance, .scale = scale, .shift = shift, .epsilon = 0}, {})(device, x)
            .copy_to(values.data());
        for (std::int64_t k = 0; k < channels; ++k) {
            double const of = variances[static_cast<std::size_t>(k)], want = 2 * (3 - 1) / std::sqrt(of) + 3;
            int wrong = 0;
            for (std::int64_t i = 0; i < 30; ++i) {
                auto const at = static_cast<std::size_t>(x.layout().offset({{i / 15, k, i % 15 / 5, i % 5}}));
                double const got = static_cast<double>(values[at]);
                wrong += std::isnan(want) ? !std::isnan(got) : !(std::fabs(got - want) <= 8 * 0x1p-24 * want);
            }
            INFO((last ? "NHWC" : "NCHW") << ", variance " << of << ": expected " << want);
            CHECK(wrong == 0);
        }
    }
}

}  // namespace test
