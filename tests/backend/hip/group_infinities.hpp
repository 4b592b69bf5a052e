// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "fusekit/hip.hpp"

namespace test {

namespace fk = fusekit;

/// Channels of x, filters and groups of a convolution.
struct GroupExtents {
    int c, k, groups;
};

/// Checks a grouped convolution of `r` x `r` taps with an infinity and a NaN in x and an infinity in the filters: every
/// output is the sum over its own group and window, so that all others are exact.
template <class T>
void check_infinities(fk::hip::Device& device, auto& scheduled, GroupExtents const& extents, int stride, int r = 3) {
    auto const& [c, k, groups] = extents;
    constexpr int h = 9, w = 11, at_h = 5, at_w = 5, nan_h = 1, nan_w = 9;
    float const infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    int const group_c = c / groups, group_k = k / groups, x_c = group_c + 1, nan_c = 0,
              w_k = (groups - 1) * group_k + 1, pad = r / 2;
    auto const layout = fk::nhwc(1, h, w, c);
    auto const of_w = fk::krsc(k, r, r, group_c);
    fk::Tensor<T, fk::hip::Device> x(device, layout), weights(device, of_w);
    std::vector<T> values(static_cast<std::size_t>(c * h * w)), filters(static_cast<std::size_t>(k * r * r * group_c));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = T(static_cast<float>(i % 5 + 1));
    for (std::size_t i = 0; i < filters.size(); ++i) filters[i] = T(static_cast<float>(i % 3 + 1) / 64);
    values[static_cast<std::size_t>(layout.offset({{0, x_c, at_h, at_w}}))] = T(infinity);
    values[static_cast<std::size_t>(layout.offset({{0, nan_c, nan_h, nan_w}}))] = T(nan);
    filters[static_cast<std::size_t>(of_w.offset({{w_k, group_c - 1, pad, pad}}))] = T(infinity);
    x.copy_from(values.data()), weights.copy_from(filters.data());
    auto const y = fk::Plan<fk::Conv<fk::dynamic>>::bind(
        {.weights = weights, .filter = fk::filter(r, r).pad(pad).stride(stride).groups(groups)})(scheduled, x);
    std::vector<T> got(static_cast<std::size_t>(y.size()));
    y.copy_to(got.data());
    int wrong = 0, finite = 0;
    for (int f = 0; f < k; ++f)
        for (std::int64_t p = 0; p < y.layout().shape[2]; ++p)
            for (std::int64_t q = 0; q < y.layout().shape[3]; ++q) {
                double sum = 0;
                for (int i = 0; i < r; ++i)
                    for (int j = 0; j < r; ++j)
                        for (int channel = 0; channel < group_c; ++channel) {
                            auto const row = p * stride + i - pad, column = q * stride + j - pad;
                            if (row < 0 || row >= h || column < 0 || column >= w) continue;
                            sum += static_cast<double>(static_cast<float>(values[static_cast<std::size_t>(
                                       layout.offset({{0, f / group_k * group_c + channel, row, column}}))])) *
                                   static_cast<double>(static_cast<float>(
                                       filters[static_cast<std::size_t>(of_w.offset({{f, channel, i, j}}))]));
                        }
                auto const expected = static_cast<float>(T(static_cast<float>(sum))),
                           value = static_cast<float>(got[static_cast<std::size_t>(y.layout().offset({{0, f, p, q}}))]);
                wrong += std::isnan(expected) ? !std::isnan(value) : value != expected;
                finite += std::isfinite(expected);
            }
    INFO(c << " " << k << " " << groups << " stride " << stride);
    CHECK(wrong == 0);
    CHECK(finite < y.size());
    CHECK(finite > y.size() / 3);
}

}  // namespace test
