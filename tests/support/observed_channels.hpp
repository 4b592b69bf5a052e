// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "fusekit/fusekit.hpp"
#include "support/difference.hpp"
#include "support/filled.hpp"
#include "support/oracle.hpp"

namespace test {

/// Mean and variance of each channel. Sums of count numbers are within count half ulps of the sum of their magnitudes
/// in any order (Higham 2002, section 3.1), of deviations from any shift among the values too; what is done with
/// totals adds a few, 10 at most. Means of parts are that far from what they should be too, and deviations from them.
struct ChannelMoments {
    oracle::Tensor mean, variance;

    explicit ChannelMoments(oracle::Tensor const& x) : mean({1, x.shape.c, 1, 1}), variance({1, x.shape.c, 1, 1}) {
        double const count = static_cast<double>(x.shape.size() / x.shape.c), ulps = (count + 10) * Bounded::unit;
        for (std::size_t k = 0; k < mean.at.size(); ++k) {
            double sum = 0, squares = 0, low = 1e300, high = -1e300;
            for (std::size_t i = 0; i < x.at.size(); ++i)
                if (x.channel(i) == k)
                    sum += x.at[i].value, low = std::min(low, x.at[i].value), high = std::max(high, x.at[i].value);
            for (std::size_t i = 0; i < x.at.size(); ++i)
                if (x.channel(i) == k) squares += std::pow(x.at[i].value - sum / count, 2);
            double const range = high - low;
            mean.at[k] = {sum / count, ulps * (range + std::fabs(sum / count))};
            double const apart = ulps * std::fabs(sum / count);
            variance.at[k] = {squares / count, ulps * range * range + 2 * range * apart + apart * apart};
        }
    }
};

/// Bias, Store, ChannelStatistics and Relu on integers between low and high.
template <class T, int Rank, class Device>
void check_statistics(Device& device, char const* x_layout, char const* y_layout, oracle::Shape shape,
                      std::int64_t low = -9, std::int64_t high = 9) {
    INFO(x_layout << ' ' << y_layout << ' ' << shape.n << ' ' << shape.c << ' ' << shape.h << ' ' << shape.w << ' '
                  << fk::name(fk::data_type<T>));
    using Plan = fk::Plan<fk::Bias, fk::Store, fk::ChannelStatistics, fk::Activation<fk::Relu>>;
    Filled<T, Device, Rank> x(device, x_layout, shape, integers(shape.size(), low, high, 3));
    auto const bias = integers(shape.c, -3, 3, 5);
    auto const before = oracle::bias(oracle::Tensor(shape, x.values), bias);
    ChannelMoments const expected(before);
    Placed<Device, 1> b(device, fk::DataType::float32, fk::channels(shape.c), bias),
        mean(device, fk::DataType::float32, fk::channels(shape.c), 64),
        variance(device, fk::DataType::float32, fk::channels(shape.c), 64);
    Placed<Device, Rank> y(device, fk::data_type<T>, layout_of<Rank>(y_layout, shape), 64),
        values(device, fk::data_type<T>, layout_of<Rank>(y_layout, shape), 64);
    Plan::bind({.bias = b.any()}, {.values = values.template view<T>()},
               {.mean = mean.template view<float>(), .variance = variance.template view<float>()},
               {})(device, x.view(), y.template view<T>());
    CHECK(difference(oracle::activation(before, {"relu"}), y.fetch()) == "");
    CHECK(difference(before, values.fetch()) == "");
    auto const compare = [](oracle::Tensor const& want, Memory<1> const& got) {
        std::int64_t k = 0;
        for (Bounded const& one : want.at) {
            double const value = got.get(k++);
            if (!(std::fabs(value - one.value) <= one.error + 0x1p-149))
                return std::to_string(k - 1) + " is " + std::to_string(value) + ", not " + std::to_string(one.value);
        }
        return std::string(got.untouched() ? "" : "memory that belongs to no channel was written");
    };
    CHECK(compare(expected.mean, mean.fetch()) == "");
    CHECK(compare(expected.variance, variance.fetch()) == "");
}

/// ChannelStatistics in pointwise plans.
template <class Device>
void check_channel_statistics(Device& device) {
    oracle::Shape const shapes[] = {{2, 8, 4, 8},  {3, 5, 7, 9},  {1, 37, 1, 1},
                                    {2, 1, 3, 70}, {9, 64, 6, 6}, {40, 3, 7, 7}};
    char const* const layouts[][2] = {
        {"nchw", "nchw"}, {"nhwc", "nhwc"}, {"nhwc", "nchw"}, {"nchw", "nhwc"}, {"nchw+1", "nchw*2"}};
    for (auto const& layout : layouts)
        for (oracle::Shape const& shape : shapes) {
            check_statistics<float, 4>(device, layout[0], layout[1], shape);
            check_statistics<fk::half, 4>(device, layout[0], layout[1], shape);
            check_statistics<fk::bfloat16, 4>(device, layout[0], layout[1], shape);
            check_statistics<float, 4>(device, layout[0], layout[1], shape, 1 << 12, (1 << 12) + 1);
            check_statistics<float, 4>(device, layout[0], layout[1], shape, 5, 5);
        }
    check_statistics<float, 3>(device, "ncw", "nwc", {2, 6, 1, 21});
    check_statistics<fk::half, 5>(device, "ncdhw", "ndhwc", {2, 5, 3, 4, 2});
}

/// Statistics feed the next plan's batch norm as they are.
template <class Device>
void check_statistics_feed_batch_norm(Device& device) {
    auto const x = fk::random<float>(device, fk::nchw(3, 5, 6, 7));
    fk::Tensor<float, Device, 1> mean(device, fk::channels(5)), variance(device, fk::channels(5));
    auto const scale = fk::random<float>(device, fk::channels(5), 2),
               shift = fk::random<float>(device, fk::channels(5), 3);
    auto const same = fk::Plan<fk::ChannelStatistics>::bind({.mean = mean, .variance = variance})(device, x);
    auto const y = fk::Plan<fk::BatchNormInference<fk::Spatial>>::bind(
        {.mean = mean, .variance = variance, .scale = scale, .shift = shift})(device, same);
    auto const expected =
        fk::Plan<fk::BatchNormTraining<fk::Spatial>>::bind({.scale = scale, .shift = shift})(device, x);
    std::vector<float> got(static_cast<std::size_t>(y.size())), want(got.size());
    y.copy_to(got.data()), expected.copy_to(want.data());
    int wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) wrong += std::fabs(got[i] - want[i]) > 1e-5;
    CHECK(wrong == 0);
}

}  // namespace test
