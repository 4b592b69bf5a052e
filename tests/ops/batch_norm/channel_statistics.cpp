// SPDX-License-Identifier: MIT
#include "fusekit/ops/batch_norm/channel_statistics.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support/observed_channels.hpp"

using namespace test;

static_assert(fk::StatisticsOp<fk::ChannelStatistics>);
static_assert(fk::Fusable<fk::Bias, fk::ChannelStatistics>);
static_assert(!fk::Fusable<fk::ChannelStatistics, fk::ChannelStatistics>);
static_assert(!fk::Fusable<fk::Conv<fk::filter(1, 1)>, fk::ChannelStatistics>);
static_assert(!fk::Fusable<fk::BatchNormTraining<fk::Spatial>, fk::ChannelStatistics>);

TEST_CASE("channels' statistics are those of the values that pass, in every layout and type") {
    for (int const threads : {1, 2}) {
        fk::host::Device device(threads);
        check_channel_statistics(device);
    }
}

TEST_CASE("channels' statistics are what the next batch norm reads") {
    fk::host::Device device(2);
    check_statistics_feed_batch_norm(device);
}

TEST_CASE("channels' statistics do not depend on the threads") {
    fk::host::Device one(1), two(2);
    auto const x = fk::random<float>(one, fk::nhwc(3, 9, 11, 13));
    float mean[4][13];
    fk::TensorView<float, 1> const views[] = {{mean[0], fk::channels(13)},
                                              {mean[1], fk::channels(13)},
                                              {mean[2], fk::channels(13)},
                                              {mean[3], fk::channels(13)}};
    fk::Plan<fk::ChannelStatistics>::bind({views[0], views[1]})(one, x);
    fk::Plan<fk::ChannelStatistics>::bind({views[2], views[3]})(two, x);
    for (int k = 0; k < 13; ++k) CHECK((mean[0][k] == mean[2][k] && mean[1][k] == mean[3][k]));
}

TEST_CASE("a channel of one value has a variance of 0, and one with a NaN has none") {
    fk::host::Device device(1);
    auto const x = fk::tensor<float>(device, fk::nchw(1, 2, 1, 1), {3, std::numeric_limits<float>::quiet_NaN()});
    auto mean = fk::tensor<float>(device, fk::channels(2), {9, 9}),
         variance = fk::tensor<float>(device, fk::channels(2), {9, 9});
    fk::Plan<fk::ChannelStatistics>::bind({.mean = mean, .variance = variance})(device, x);
    CHECK(mean.data()[0] == 3);
    CHECK(variance.data()[0] == 0);
    CHECK(mean.data()[1] != mean.data()[1]);
    CHECK(variance.data()[1] != variance.data()[1]);
}

TEST_CASE("statistics that overlap, or are too few, are refused in words") {
    fk::host::Device device(1);
    using Layer = fk::Plan<fk::Bias, fk::ChannelStatistics>;
    auto const x = fk::random<float>(device, fk::nchw(1, 3, 2, 2));
    auto bias = fk::random<float>(device, fk::channels(3)), mean = fk::random<float>(device, fk::channels(3)),
         four = fk::random<float>(device, fk::channels(4));
    auto const refusal = [&](fk::TensorView<float, 1> m, fk::TensorView<float, 1> v) -> std::string {
        try {
            Layer::bind({.bias = bias}, {.mean = m, .variance = v})(device, x);
        } catch (fk::Error const& error) {
            return error.what();
        }
        return "accepted";
    };
    std::string const plan = "Plan<Bias, ChannelStatistics>: ChannelStatistics.";
    CHECK(refusal(mean, mean) ==
          plan + "variance: expected memory apart from that of ChannelStatistics.mean, got memory that overlaps it");
    CHECK(refusal(bias, mean) ==
          plan + "mean: expected memory apart from that of Bias.bias, got memory that overlaps it");
    CHECK(refusal(mean, four) == plan + "variance: expected 3 (K), got 4");
}
