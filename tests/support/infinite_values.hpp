// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/oracle.hpp"

namespace test {

namespace fk = fusekit;

/// Convolutions of integers with a few infinities and NaN in x and in the weights, at window edges, where they meet
/// padding: every output equals the oracle's sum, NaN and infinity included. `may_split`: the device may split floats,
/// so an infinite result may be NaN.
template <class T, class Option = void, class Device>
void check_infinite_values(Device& device, bool may_split = false) {
    constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    struct Groups {
        std::int64_t c, k, groups;
    };
    for (auto const& [c, k, groups] : {Groups{5, 20, 1}, Groups{8, 6, 2}, Groups{20, 20, 20}})
        for (bool const last : {false, true})
            for (int const stride : {1, 2}) {
                oracle::Window const window{.r = 3,
                                            .s = 3,
                                            .top = 1,
                                            .left = 1,
                                            .bottom = 1,
                                            .right = 1,
                                            .u = stride,
                                            .v = stride,
                                            .groups = groups};
                oracle::Tensor in({2, c, 5, 19});
                for (std::size_t i = 0; i < in.at.size(); ++i) in.at[i].value = static_cast<double>(i * 7 % 11) - 5;
                in.at[3 * 19 + 12].value = inf, in.at[in.at.size() - 1].value = -inf, in.at[5 * 19 + 40].value = nan;
                std::vector<double> weights(static_cast<std::size_t>(k * (c / groups) * 9));
                std::size_t const filter = weights.size() / static_cast<std::size_t>(k);
                for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(i * 5 % 7) - 3;
                weights[filter] = inf, weights[3 * filter - 1] = -inf, weights[3 * filter + 2] = nan;
                weights[4 * filter + 4] = inf;  // the centre tap, which never meets padding

                auto const layout = last ? fk::nhwc(2, 5, 19, c) : fk::nchw(2, c, 5, 19);
                fk::Tensor<T, Device> x(device, layout), w(device, fk::kcrs(k, c / groups, 3, 3));
                std::vector<T> memory(in.at.size()), filters(weights.begin(), weights.end());
                std::size_t i = 0;
                for (std::int64_t n = 0; n < 2; ++n)
                    for (std::int64_t channel = 0; channel < c; ++channel)
                        for (std::int64_t row = 0; row < 5; ++row)
                            for (std::int64_t column = 0; column < 19; ++column)
                                memory[static_cast<std::size_t>(layout.offset({{n, channel, row, column}}))] =
                                    static_cast<T>(in.at[i++].value);
                x.copy_from(memory.data()), w.copy_from(filters.data());
                auto const y = fk::Plan<fk::Conv<fk::dynamic, Option>>::bind(
                    {.weights = w, .filter = fk::filter(3, 3).pad(1).stride(stride).groups(static_cast<int>(groups))})(
                    device, x);
                oracle::Tensor const expected = oracle::conv(in, weights, k, window);
                std::vector<T> got(static_cast<std::size_t>(y.size()));
                y.copy_to(got.data());
                int wrong = 0, numbers = 0;
                std::string first;
                i = 0;
                oracle::Shape const out = expected.shape;
                for (std::int64_t n = 0; n < 2; ++n)
                    for (std::int64_t channel = 0; channel < k; ++channel)
                        for (std::int64_t row = 0; row < out.h; ++row)
                            for (std::int64_t column = 0; column < out.w; ++column) {
                                double const want = expected.at[i++].value,
                                             have = static_cast<double>(got[static_cast<std::size_t>(
                                                 y.layout().offset({{n, channel, row, column}}))]);
                                bool const right = std::isfinite(want) ? have == want
                                                   : may_split         ? !std::isfinite(have)
                                                   : std::isnan(want)  ? std::isnan(have)
                                                                       : have == want;
                                numbers += std::isfinite(want);
                                if (!right && ++wrong == 1)
                                    first = "y[" + std::to_string(n) + "," + std::to_string(channel) + "," +
                                            std::to_string(row) + "," + std::to_string(column) + "] is " +
                                            std::to_string(have) + ", expected " + std::to_string(want);
                            }
                INFO("C = " << c << ", groups = " << groups << ", stride " << stride << (last ? ", NHWC: " : ", NCHW: ")
                            << first);
                CHECK(wrong == 0);
                CHECK(numbers > 100);
            }
}

}  // namespace test
