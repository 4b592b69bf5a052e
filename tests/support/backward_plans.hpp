// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "fusekit/fusekit.hpp"

namespace test {

namespace fk = fusekit;

namespace detail {

template <class Device>
auto floats(Device& device, auto const& layout, std::vector<double> const& values) {
    fk::Tensor<float, Device, std::remove_cvref_t<decltype(layout.shape)>::rank> tensor(device, layout);
    std::vector<float> const rounded(values.begin(), values.end());
    tensor.copy_from(rounded.data());
    return tensor;
}
std::vector<double> doubles(auto const& tensor) {
    std::vector<float> values(static_cast<std::size_t>(tensor.size()));
    tensor.copy_to(values.data());
    return {values.begin(), values.end()};
}

/// Floats, as doubles: both types hold them exactly.
inline std::vector<double> uniform(std::int64_t size, std::uint64_t seed, double low = -1, double high = 1) {
    std::vector<double> values(static_cast<std::size_t>(size));
    for (double& value : values) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        value = static_cast<float>(low + (high - low) * static_cast<double>(seed >> 40) * 0x1p-24);
    }
    return values;
}

struct Difference {
    double elements = 0;    ///< largest error of dx and of Residual's dz
    double parameters = 0;  ///< largest error of the parameters' gradients, which are sums
};

/// Batch norm between two operators of each form: the difference between its gradients in float and those in double on
/// the host, which finite differences confirm (tests/plan/backward.cpp).
template <class Norm, class T, class Device>
Difference difference_of_gradients(Device& device, fk::Layout<4> const& layout) {
    using B = std::conditional_t<Norm::per_pixel, fk::Scale, fk::Bias>;
    using Layer = fk::Plan<fk::Residual, B, Norm, fk::Activation<fk::Gelu>, fk::Scale>;
    fk::Index<4> const n = layout.shape;
    auto const parameters = [&] {
        if constexpr (Norm::per_pixel) return fk::chw(n[1], n[2], n[3]);
        else return fk::channels(n[1]);
    }();
    auto const count = static_cast<std::size_t>(layout.size());
    auto const x = uniform(layout.size(), 1), dy = uniform(layout.size(), 2), z = uniform(layout.size(), 3),
               mean = uniform(parameters.size(), 4), scale = uniform(parameters.size(), 5),
               shift = uniform(parameters.size(), 6), variance = uniform(parameters.size(), 7, 0.5, 2),
               b = uniform(n[1], 8);

    auto const run = [&]<class V>(auto& on, V) {
        using On = std::remove_reference_t<decltype(on)>;
        auto const tensor = [&](std::vector<double> const& values) {
            fk::Tensor<V, On> made(on, layout);
            std::vector<V> const converted(values.begin(), values.end());
            made.copy_from(converted.data());
            return made;
        };
        auto const tx = tensor(x), tdy = tensor(dy), tz = tensor(z);
        auto const tmean = floats(on, parameters, mean), tvariance = floats(on, parameters, variance),
                   tscale = floats(on, parameters, scale), tshift = floats(on, parameters, shift);
        auto const tb = floats(on, fk::channels(n[1]), b);
        auto dscale = floats(on, parameters, mean), dshift = floats(on, parameters, mean);
        auto dbias = floats(on, fk::channels(n[1]), b);
        fk::Tensor<V, On> dz(on, layout);
        typename fk::detail::GradientsOf<B>::Type of_second{};
        if constexpr (!Norm::per_pixel) of_second.bias = dbias.view();
        auto const second = [&]() -> typename B::Args {
            if constexpr (Norm::per_pixel) return {.factor = 0.75f};
            else return {.bias = tb};
        }();
        auto const layer =
            Layer::bind({.z = tz}, second, {.mean = tmean, .variance = tvariance, .scale = tscale, .shift = tshift}, {},
                        {.factor = 1.5f});
        auto const dx = fk::Backward<Layer>::bind(layer, tx, {.z = dz}, of_second, {.scale = dscale, .shift = dshift},
                                                  {}, {})(on, tdy);
        std::vector<V> elements[2]{std::vector<V>(count), std::vector<V>(count)};
        dx.copy_to(elements[0].data()), dz.copy_to(elements[1].data());
        std::vector<std::vector<double>> all = {{elements[0].begin(), elements[0].end()},
                                                {elements[1].begin(), elements[1].end()},
                                                doubles(dscale),
                                                doubles(dshift),
                                                doubles(dbias)};
        return all;
    };
    fk::host::Device host(2);
    auto const got = run(device, T{}), expected = run(host, double{});
    Difference worst;
    for (std::size_t part = 0; part < got.size(); ++part)
        for (std::size_t i = 0; i < got[part].size(); ++i) {
            double& difference = part < 2 ? worst.elements : worst.parameters;
            difference = std::fmax(difference, std::fabs(got[part][i] - expected[part][i]));
            if (std::isnan(got[part][i])) difference = got[part][i];
        }
    return worst;
}

}  // namespace detail

/// Tolerance: dx and dz have magnitudes of at most 2 and some 30 roundings: 1e-5. A sum of m such terms has an error of
/// at most 1e-5 m.
void check_gradients_of_pointwise_plans(auto& device) {
    for (fk::Layout<4> const& layout : {fk::nchw(3, 5, 7, 9), fk::nchw(2, 3, 32, 32), fk::nhwc(3, 7, 9, 5),
                                        fk::nhwc(2, 17, 16, 24), fk::nchw(2, 3, 1, 1)}) {
        auto const check = [&](detail::Difference const& difference, double values) {
            INFO(layout.shape[0] << " x " << layout.shape[1] << " x " << layout.shape[2] << " x " << layout.shape[3]);
            CHECK(difference.elements < 1e-5);
            CHECK(difference.parameters < 1e-5 * values);
        };
        fk::Index<4> const n = layout.shape;
        check(detail::difference_of_gradients<fk::BatchNormInference<fk::Spatial>, float>(device, layout),
              static_cast<double>(n[0] * n[2] * n[3]));
        check(detail::difference_of_gradients<fk::BatchNormInference<fk::PerActivation>, float>(device, layout),
              static_cast<double>(n[0]));
    }
}

}  // namespace test
