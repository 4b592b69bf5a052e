// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/difference.hpp"
#include "support/effort.hpp"
#include "support/element_types.hpp"
#include "support/filled.hpp"
#include "support/half_types.hpp"
#include "support/oracle.hpp"
#include "support/oracle_training.hpp"

namespace test {

/// Mean and variance of each channel. Sums of count numbers have an error of at most count half ulps of the sum of
/// magnitudes in any order (Higham 2002, section 3.1), also sums of deviations from a shift among the values; merging
/// and finishing add at most 10. Partial means, and deviations from them, have that error too.
struct ChannelMoments {
    oracle::Tensor mean, variance;

    /// `exact`: every intermediate float is exact.
    explicit ChannelMoments(oracle::Tensor const& x, bool exact = false)
        : mean({1, x.shape.c, 1, 1}), variance({1, x.shape.c, 1, 1}) {
        double const count = static_cast<double>(x.shape.size() / x.shape.c);
        double const ulps = exact ? 0 : (count + 10) * Bounded::unit;
        std::vector<double> sum(mean.at.size()), squares = sum, low(sum.size(), 1e300), high(sum.size(), -1e300);
        for (std::size_t i = 0; i < x.at.size(); ++i) {
            std::size_t const k = x.channel(i);
            double const value = x.at[i].value;
            sum[k] += value, low[k] = std::min(low[k], value), high[k] = std::max(high[k], value);
        }
        for (std::size_t i = 0; i < x.at.size(); ++i) {
            std::size_t const k = x.channel(i);
            squares[k] += std::pow(x.at[i].value - sum[k] / count, 2);
        }
        for (std::size_t k = 0; k < sum.size(); ++k) {
            double const average = sum[k] / count, range = high[k] - low[k], apart = ulps * std::fabs(average);
            mean.at[k] = {average, ulps * (range + std::fabs(average))};
            variance.at[k] = {squares[k] / count, ulps * range * range + 2 * range * apart + apart * apart};
        }
    }
};

/// Offset to add to Bias' values, and whether the statistics must equal the oracle's exactly.
struct Expected {
    std::int64_t offset = 0;
    bool exact = false;
};

/// Statistics of one run, one number per channel.
struct CollectedChannels {
    Memory<1> mean, variance, inverse, running_mean, running_variance;
};

/// Runs a plan that ends with Bias, Store, ChannelStatistics and Relu, after `first...`, the arguments of a Conv or
/// none, twice: results must be bitwise identical. `sums` is the input of Bias.
template <class Plan, class T, int Rank, class Device>
void check_observed(Device& device, char const* y_layout, fk::TensorView<XOf<T> const, Rank> const& x,
                    oracle::Tensor const& sums, Expected const& about, auto const&... first) {
    oracle::Shape const shape = sums.shape;
    auto const bias = integers(shape.c, about.offset - 3, about.offset + 3, 5);
    auto const before = oracle::bias(sums, bias);
    ChannelMoments const expected(before, about.exact);
    Placed<Device, Rank> y(device, fk::data_type<YOf<T>>, layout_of<Rank>(y_layout, shape), 64),
        values(device, fk::DataType::float32, layout_of<Rank>(y_layout, shape), 64);
    std::int64_t const room = sizeof...(first) ? fk::ChannelStatistics::scratch(y.fetch().layout.shape) : 1;
    Placed<Device, 1> b(device, fk::DataType::float32, fk::channels(shape.c), bias),
        scratch(device, fk::DataType::float32, fk::channels(room), 64);
    bool const runs = shape.size() > shape.c && !requires { Device::may_replay; };  // a replay updates them again
    auto const start = integers(shape.c, 1, 5, 6);
    auto const run = [&] {
        auto const channels = [&](auto const& content) {
            return Placed<Device, 1>(device, fk::DataType::float32, fk::channels(shape.c), content);
        };
        Placed<Device, 1> mean = channels(64), variance = channels(64), inverse = channels(64),
                          running_mean = channels(start), running_variance = channels(start);
        fk::ChannelStatistics::Args statistics{mean.template view<float>(), variance.template view<float>()};
        statistics.saved_inverse_deviation = inverse.template view<float>();
        if (runs) statistics.running_mean = running_mean.template view<float>();
        if (runs) statistics.running_variance = running_variance.template view<float>();
        statistics.momentum = 0.25f, statistics.epsilon = 0.5f;
        if (sizeof...(first)) statistics.scratch = scratch.template view<float>();
        Plan::bind(first..., {.bias = b.any()}, {.values = values.template view<float>()}, statistics, {})(
            device, x, y.template view<YOf<T>>());
        return CollectedChannels{mean.fetch(), variance.fetch(), inverse.fetch(), running_mean.fetch(),
                                 running_variance.fetch()};
    };
    CollectedChannels one = run(), other = run();
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
    CHECK(compare(expected.mean, one.mean) == "");
    CHECK(compare(expected.variance, one.variance) == "");
    CHECK((one.mean.raw() == other.mean.raw() && one.variance.raw() == other.variance.raw()));
    double const count = static_cast<double>(shape.size() / shape.c);
    CHECK(compare(expected.variance.each([](Bounded v, std::size_t) { return oracle::inverse_deviation(v, 0.5); }),
                  one.inverse) == "");
    auto const moved = [&](oracle::Tensor const& to, double factor) {
        return to.each([&](Bounded v, std::size_t k) {
            return runs ? oracle::moved(start[k], v * Bounded{factor}, 0.25) : Bounded{start[k]};
        });
    };
    CHECK(compare(moved(expected.mean, 1), one.running_mean) == "");
    CHECK(compare(moved(expected.variance, count / (count - 1)), one.running_variance) == "");
    CHECK(scratch.fetch().untouched(sizeof...(first) == 0));
}

/// Bias, Store, ChannelStatistics and Relu on integers between low and high.
template <class T, int Rank, class Device>
void check_statistics(Device& device, char const* x_layout, char const* y_layout, oracle::Shape shape,
                      std::int64_t low = -9, std::int64_t high = 9) {
    INFO(x_layout << ' ' << y_layout << ' ' << shape.n << ' ' << shape.c << ' ' << shape.h << ' ' << shape.w << ' '
                  << name_of_types<T>());
    using Plan = fk::Plan<fk::Bias, fk::Store, fk::ChannelStatistics, fk::Activation<fk::Relu>>;
    Filled<XOf<T>, Device, Rank> x(device, x_layout, shape, integers(shape.size(), low, high, 3));
    check_observed<Plan, T>(device, y_layout, x.view(), oracle::Tensor(shape, x.values), {});
}

/// A convolution whose results are totalled: integers between -2 and 2, weights between -most and most.
struct CollectedConv {
    oracle::Shape x;
    std::int64_t k;
    oracle::Window window{};
    std::int64_t most = 1;
    Expected expected{};
    bool one_colour = false;  ///< all pixels of an image are equal
};

/// Conv, Bias, Store, ChannelStatistics and Relu.
template <class Conv, class T, int Rank, class Device>
void check_conv_statistics(Device& device, char const* x_layout, char const* y_layout, CollectedConv const& about) {
    oracle::Shape const shape = about.x;
    oracle::Window const f = about.window;
    INFO(fk::type_name<Conv>() << ' ' << x_layout << ' ' << y_layout << ' ' << shape.n << ' ' << shape.c << ' '
                               << shape.h << ' ' << shape.w << ' ' << about.k << ' ' << name_of_types<T>());
    using Plan = fk::Plan<Conv, fk::Bias, fk::Store, fk::ChannelStatistics, fk::Activation<fk::Relu>>;
    oracle::Shape const filter{about.k, shape.c / f.groups, f.r, f.s, f.t};
    char const* const order = Rank == 3 ? "ncw" : Rank == 4 ? "nchw" : "ncdhw";
    auto numbers = integers(shape.size(), -2, 2, 3);
    auto const plane = static_cast<std::size_t>(about.one_colour ? shape.d * shape.h * shape.w : 1);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = numbers[i / plane * plane];
    Filled<XOf<T>, Device, Rank> x(device, x_layout, shape, numbers);
    Filled<XOf<T>, Device, Rank> w(device, order, filter, integers(filter.size(), -about.most, about.most, 4));
    auto const conv = [&]() -> typename Conv::Args {
        if constexpr (std::is_same_v<Conv, fk::Conv<fk::dynamic>>) return {.weights = w.view(), .filter = filter_of(f)};
        else return {.weights = w.view()};
    };
    auto const sums = oracle::conv(oracle::Tensor(shape, x.values), w.values, about.k, f);
    check_observed<Plan, T>(device, y_layout, x.view(), sums, about.expected, conv());
}

/// ChannelStatistics after a Conv: partial tiles, several tiles of pixels and of channels, groups, depthwise, channels
/// with a mean far from 0 or with equal values, signals and volumes.
template <class Device>
void check_conv_channel_statistics(Device& device, Pairs pairs = {}) {
    using Conv = fk::Conv<fk::dynamic>;
    using Signal = fk::Conv<fk::filter(3).pad(1)>;
    using Volume = fk::Conv<fk::filter(2, 3, 1).pad(0, 1, 0)>;
    oracle::Window const pixel{}, same{.r = 3, .s = 3, .top = 1, .left = 1, .bottom = 1, .right = 1};
    auto const grouped = [](oracle::Window window, std::int64_t groups) {
        window.groups = groups;
        return window;
    };
    char const* const layouts[][2] = {{"nchw", "nchw"}, {"nhwc", "nhwc"}, {"nhwc", "nchw"}, {"nchw+1", "nhwc*2"}};
    for (auto const& layout : layouts) {
        auto const check = [&](auto type, CollectedConv const& about) {
            if (pairs.runs()) check_conv_statistics<Conv, decltype(type), 4>(device, layout[0], layout[1], about);
        };
        check(float(), {{1, 3, 1, 1}, 5, pixel});
        check(float(), {{2, 5, 9, 7}, 37, pixel});
        check(float(), {{3, 3, 24, 29}, 70, same});
        check(float(), {{2, 4, 14, 14}, 9, same, 1, {.offset = 1 << 12}});
        check(float(), {{2, 4, 14, 14}, 9, same, 0, {.offset = 5, .exact = true}});
        check(fk::half(), {{2, 5, 9, 7}, 19, same});
        check(LastHalf(), {{1, 6, 9, 7}, 10, {.r = 3, .s = 2, .top = 1, .bottom = 1, .u = 2, .v = 2, .groups = 2}});
        check(float(), {{2, 9, 5, 11}, 9, grouped(same, 9)});
        check(fk::half(), {{3, 40, 11, 10}, 40, grouped(same, 40)});
        check(float(), {{1, 40, 3, 90}, 80, grouped(same, 40)});
        pairs.next(10);
    }
    for (char const* layout : {"ncw", "nwc"})
        check_conv_statistics<Signal, float, 3>(device, layout, layout,
                                                {{3, 5, 1, 71}, 13, {.r = 1, .s = 3, .left = 1, .right = 1}});
    for (char const* layout : {"ncdhw", "ndhwc"})
        check_conv_statistics<Volume, fk::half, 5>(
            device, layout, layout, {{2, 3, 5, 7, 6}, 13, {.r = 3, .s = 1, .top = 1, .bottom = 1, .t = 2}});
}

/// Checks two images with constant channels and a power-of-two number of pixels: half a tile or whole tiles. Every
/// intermediate float of mean and variance is exact.
template <class Device>
void check_exact_statistics(Device& device, char const* layout) {
    using Conv = fk::Conv<fk::dynamic>;
    Expected const exactly{.exact = true};
    check_conv_statistics<Conv, float, 4>(device, layout, layout, {{2, 3, 8, 8}, 70, {}, 1, exactly, true});
    check_conv_statistics<Conv, float, 4>(device, layout, layout, {{2, 9, 8, 8}, 9, {.groups = 9}, 1, exactly, true});
}

/// ChannelStatistics in pointwise plans, in all layouts or those that `layouts_run` selects.
template <class Device>
void check_channel_statistics(Device& device, Pairs layouts_run = {}) {
    oracle::Shape const shapes[] = {{2, 8, 4, 8},  {3, 5, 7, 9},  {1, 37, 1, 1},
                                    {2, 1, 3, 70}, {9, 64, 6, 6}, {40, 3, 7, 7}};
    char const* const layouts[][2] = {
        {"nchw", "nchw"}, {"nhwc", "nhwc"}, {"nhwc", "nchw"}, {"nchw", "nhwc"}, {"nchw+1", "nchw*2"}};
    int turn = 0;
    for (auto const& layout : layouts) {
        if (!layouts_run.runs()) continue;
        for (oracle::Shape const& shape : shapes) {
            // On an emulated GPU 16 bits and hard values alternate from shape to shape and from layout to layout.
            bool const all = emulated_part == 1;
            check_statistics<float, 4>(device, layout[0], layout[1], shape);
            if (all || turn % 2 == 0) check_statistics<fk::half, 4>(device, layout[0], layout[1], shape);
            if (all || turn % 2 == 1) {
                check_statistics<LastHalf, 4>(device, layout[0], layout[1], shape);
                check_statistics<float, 4>(device, layout[0], layout[1], shape, 1 << 12, (1 << 12) + 1);
                check_statistics<float, 4>(device, layout[0], layout[1], shape, 5, 5);
            }
            ++turn;
        }
        ++turn;
    }
    check_statistics<float, 3>(device, "ncw", "nwc", {2, 6, 1, 21});
    check_statistics<fk::half, 5>(device, "ncdhw", "ndhwc", {2, 5, 3, 4, 2});
}

/// The next plan's batch norm reads the statistics without conversion.
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
