// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <type_traits>
#include <vector>

#include "support/element_types.hpp"
#include "support/placed.hpp"
#include "support/random.hpp"

namespace test {

/// y[m,n] = sum of x[m,k] weights[n,k], computed by a plan with a float Gemm.
template <class Gemm, class Device>
std::vector<double> float_products(Device& device, std::vector<double> const& x, std::vector<double> const& weights,
                                   std::int64_t k) {
    auto const m = static_cast<std::int64_t>(x.size()) / k, n = static_cast<std::int64_t>(weights.size()) / k;
    Placed<Device, 2> of_x(device, fk::DataType::float32, fk::row_major(m, k), x),
        of_weights(device, fk::DataType::float32, fk::row_major(n, k), weights),
        y(device, fk::DataType::float32, fk::row_major(m, n), 64);
    fk::Plan<Gemm>::bind({.weights = of_weights.any()})(device, of_x.template view<float const>(),
                                                        y.template view<float>());
    std::vector<double> values;
    auto const& written = y.fetch();
    for (std::int64_t i = 0; i < m * n; ++i) values.push_back(written.get(i));
    return values;
}

/// Floats from low to 1.
inline std::vector<double> floats_from(double low, std::int64_t size, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> values(static_cast<std::size_t>(size));
    for (double& value : values) value = static_cast<float>(low + (1 - low) * random.uniform());
    return values;
}

/// Largest error of y against sums in double, in units of sum |x w|.
inline double largest_error(std::vector<double> const& y, std::vector<double> const& x,
                            std::vector<double> const& weights, std::size_t k) {
    std::size_t const n = weights.size() / k;
    double largest = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        double sum = 0, size = 0;
        for (std::size_t j = 0; j < k; ++j) {
            double const product = x[i / n * k + j] * weights[i % n * k + j];
            sum += product, size += std::fabs(product);
        }
        double const error = std::fabs(y[i] - sum) / size;
        if (!(error <= largest)) largest = error;  // also if NaN
    }
    return largest;
}

/// Checks float products against the bound of tensor/products.hpp for `Factor`, or, if void, the bound of a chain of
/// float additions, with factors of both signs and of one sign. `cuts`: the device rounds factors to TF32; otherwise it
/// multiplies all bits.
template <class Factor, class Device>
void check_float_products(Device& device, bool cuts) {
    using Gemm = GemmOf<std::conditional_t<std::is_void_v<Factor>, float, FloatsAs<Factor>>>;
    constexpr int m = 70, n = 66, k = 350;
    double const bound = std::is_same_v<Factor, fk::tf32>         ? 0x1p-9 + 0x1p-20 + k * 0x1p-23
                         : std::is_same_v<Factor, fk::bfloat16x3> ? (13 + (k + 63) / 64) * 0x1p-24
                                                                  : k * 0x1p-24;
    for (double const low : {-1.0, 0.0}) {
        auto const x = floats_from(low, m * k, 1), weights = floats_from(low, n * k, 2);
        double const error = largest_error(float_products<Gemm>(device, x, weights, k), x, weights, k);
        CHECK(error <= bound);
    }
    // One bit more than TF32 has, with an exact float sum.
    std::vector<double> const x(32, 1 + 0x1p-12), ones(32, 1.0);
    CHECK(float_products<Gemm>(device, x, ones, 32)[0] == (cuts ? 32 : 32 + 0x1p-7));
    CHECK(float_products<Gemm>(device, ones, x, 32)[0] == (cuts ? 32 : 32 + 0x1p-7));
    if (cuts) CHECK(std::isinf(float_products<Gemm>(device, {HUGE_VAL, 1}, {1, 1}, 2)[0]));
    CHECK(std::isnan(float_products<Gemm>(device, {NAN, 1}, {1, 1}, 2)[0]));
}

}  // namespace test
