// SPDX-License-Identifier: MIT
#include "fusekit/ops/batch_norm/channel_statistics.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "support/collected_channels.hpp"
#include "support/refusal.hpp"

using namespace test;

static_assert(fk::StatisticsOp<fk::ChannelStatistics>);
static_assert(fk::Fusable<fk::Bias, fk::ChannelStatistics>);
static_assert(!fk::Fusable<fk::ChannelStatistics, fk::ChannelStatistics>);
static_assert(fk::Fusable<fk::Conv<fk::filter(1, 1)>, fk::Bias, fk::ChannelStatistics>);
static_assert(!fk::Fusable<fk::Conv<fk::filter(1, 1)>, fk::ChannelStatistics, fk::ChannelStatistics>);
static_assert(!fk::Fusable<fk::Conv<fk::filter(1, 1)>, fk::ChannelStatistics, fk::Pool<fk::Max, 2, 2>>);
static_assert(!fk::Fusable<fk::BatchNormTraining<fk::Spatial>, fk::ChannelStatistics>);

TEST_CASE("ChannelStatistics total the values at their position, in every layout and type") {
    for (int const threads : {1, 2}) {
        fk::host::Device device(threads);
        check_channel_statistics(device);
    }
}

TEST_CASE("ChannelStatistics after a convolution agree with the oracle") {
    for (int const threads : {1, 3}) {
        fk::host::Device device(threads);
        check_conv_channel_statistics(device);
        check_exact_statistics(device, "nchw");
    }
}

TEST_CASE("the next BatchNorm reads ChannelStatistics' outputs") {
    fk::host::Device device(2);
    check_statistics_feed_batch_norm(device);
}

TEST_CASE("ChannelStatistics do not depend on the number of threads") {
    fk::host::Device one(1), two(2);
    auto const x = fk::random<float>(one, fk::nhwc(3, 9, 11, 13));
    float mean[4][13];
    fk::TensorView<float, 1> const views[] = {{mean[0], fk::channels(13)},
                                              {mean[1], fk::channels(13)},
                                              {mean[2], fk::channels(13)},
                                              {mean[3], fk::channels(13)}};
    (void)fk::Plan<fk::ChannelStatistics>::bind({views[0], views[1]})(one, x);
    (void)fk::Plan<fk::ChannelStatistics>::bind({views[2], views[3]})(two, x);
    for (int k = 0; k < 13; ++k) CHECK((mean[0][k] == mean[2][k] && mean[1][k] == mean[3][k]));
}

TEST_CASE("statistics of a convolution do not depend on the number of threads") {
    using Layer = fk::Plan<fk::Conv<fk::dynamic>, fk::ChannelStatistics>;
    fk::host::Device devices[] = {fk::host::Device(1), fk::host::Device(2), fk::host::Device(3)};
    for (bool const last : {false, true})
        for (int const groups : {1, 26}) {
            auto const x = fk::random<float>(devices[0], last ? fk::nhwc(3, 31, 29, 26) : fk::nchw(3, 26, 31, 29));
            auto const w = fk::random<float>(devices[0], fk::kcrs(26, 26 / groups, 3, 3), 2);
            std::vector<float> all[3];
            for (int i = 0; i < 3; ++i) {
                fk::Tensor<float, fk::host::Device, 1> mean(devices[i], fk::channels(26)),
                    variance(devices[i], fk::channels(26)),
                    scratch(devices[i], fk::channels(fk::ChannelStatistics::scratch(fk::nchw(3, 26, 31, 29).shape)));
                (void)Layer::bind({.weights = w, .filter = fk::filter(3, 3).pad(1).groups(groups)},
                                  {.mean = mean, .variance = variance, .scratch = scratch})(devices[i], x);
                all[i].assign(mean.data(), mean.data() + 26);
                all[i].insert(all[i].end(), variance.data(), variance.data() + 26);
            }
            CHECK(all[0][26] > 0);
            CHECK((all[0] == all[1] && all[0] == all[2]));
        }
}

TEST_CASE("missing scratch of statistics after a convolution is refused with its size") {
    fk::host::Device device(1);
    using Layer = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::ChannelStatistics>;
    auto const x = fk::random<float>(device, fk::nchw(5, 6, 4, 4));
    auto const w = fk::random<float>(device, fk::kcrs(2, 6, 1, 1));
    auto mean = fk::random<float>(device, fk::channels(2)), variance = fk::random<float>(device, fk::channels(2)),
         floats = fk::random<float>(device, fk::channels(24));
    float const before = mean.data()[0];
    auto const refused = [&](fk::OptionalView<float, 1> scratch) {
        return refusal([&] {
            (void)Layer::bind({.weights = w}, {.mean = mean, .variance = variance, .scratch = scratch})(device, x);
        });
    };
    using View = fk::TensorView<float, 1>;
    std::string const argument = "Plan<Conv<filter(1, 1)>, ChannelStatistics>: ChannelStatistics.scratch: expected ";
    std::string const floats_for_tiles = "at least 12 floats, for totals of tiles after a Conv or Gemm";
    CHECK(fk::ChannelStatistics::scratch(fk::nchw(5, 2, 4, 4).shape) == 12);  // 3 of 2 channels of 2 times 64 pixels
    CHECK(fk::ChannelStatistics::scratch(fk::ncdhw(1, 7, 4, 4, 4).shape) == 21);
    CHECK(refused({}) == argument + floats_for_tiles + ", got none");
    CHECK(refused(View(floats.data(), fk::channels(11))) == argument + floats_for_tiles + ", got 11");
    CHECK(refused(View(floats.data(), {fk::channels(12).shape, {{2}}})) ==
          argument + "contiguous floats, got a stride of 2");
    CHECK(refused(View(const_cast<float*>(w.data()), fk::channels(12))) ==
          argument + "memory apart from that of Conv<filter(1, 1)>.weights, got memory that overlaps it");
    CHECK(mean.data()[0] == before);
    CHECK(refused(View(floats.data(), fk::channels(12))) == "accepted");
    CHECK(refused(floats) == "accepted");
}

TEST_CASE("a channel of one value has a variance of 0, and one with a NaN has none") {
    fk::host::Device device(1);
    auto const x = fk::tensor<float>(device, fk::nchw(1, 2, 1, 1), {3, std::numeric_limits<float>::quiet_NaN()});
    auto mean = fk::tensor<float>(device, fk::channels(2), {9, 9}),
         variance = fk::tensor<float>(device, fk::channels(2), {9, 9});
    (void)fk::Plan<fk::ChannelStatistics>::bind({.mean = mean, .variance = variance})(device, x);
    CHECK(mean.data()[0] == 3);
    CHECK(variance.data()[0] == 0);
    CHECK(mean.data()[1] != mean.data()[1]);
    CHECK(variance.data()[1] != variance.data()[1]);
}

TEST_CASE("statistics outputs that overlap or are too small are refused") {
    fk::host::Device device(1);
    using Layer = fk::Plan<fk::Bias, fk::ChannelStatistics>;
    auto const x = fk::random<float>(device, fk::nchw(1, 3, 2, 2));
    auto bias = fk::random<float>(device, fk::channels(3)), mean = fk::random<float>(device, fk::channels(3)),
         four = fk::random<float>(device, fk::channels(4));
    auto const refused = [&](fk::TensorView<float, 1> m, fk::TensorView<float, 1> v) {
        return refusal([&] { (void)Layer::bind({.bias = bias}, {.mean = m, .variance = v})(device, x); });
    };
    std::string const plan = "Plan<Bias, ChannelStatistics>: ChannelStatistics.";
    CHECK(refused(mean, mean) ==
          plan + "variance: expected memory apart from that of ChannelStatistics.mean, got memory that overlaps it");
    CHECK(refused(bias, mean) ==
          plan + "mean: expected memory apart from that of Bias.bias, got memory that overlaps it");
    CHECK(refused(mean, four) == plan + "variance: expected 3 (K), got 4");
}

TEST_CASE("saved statistics of a wrong shape are refused") {
    fk::host::Device device(1);
    using Layer = fk::Plan<fk::ChannelStatistics>;
    auto const x = fk::random<float>(device, fk::nchw(1, 3, 2, 2)),
               one = fk::random<float>(device, fk::nchw(1, 3, 1, 1));
    auto mean = fk::random<float>(device, fk::channels(3)), variance = fk::random<float>(device, fk::channels(3)),
         three = fk::random<float>(device, fk::channels(3)), others = fk::random<float>(device, fk::channels(3)),
         four = fk::random<float>(device, fk::channels(4));
    auto const refused = [&](auto const& set, auto const& of) {
        fk::ChannelStatistics::Args statistics{.mean = mean, .variance = variance};
        set(statistics);
        return refusal([&] { (void)Layer::bind(statistics)(device, of); });
    };
    std::string const statistics = "Plan<ChannelStatistics>: ChannelStatistics.";
    CHECK(refused([&](auto& a) { a.saved_inverse_deviation = four; }, x) ==
          statistics + "saved_inverse_deviation: expected 3 (K), got 4");
    CHECK(refused([&](auto& a) { a.running_mean = three; }, x) ==
          statistics + "running_variance: expected both running statistics, or neither, got none");
    CHECK(refused([&](auto& a) { a.running_mean = three, a.running_variance = others; }, one) ==
          statistics +
              "running_variance: expected at least 2 values per mean, because the variance of 1 value is undefined, "
              "got 1");
    CHECK(refused([&](auto& a) { a.running_mean = a.running_variance = three; }, x) ==
          statistics +
              "running_variance: expected memory apart from that of ChannelStatistics.running_mean, got memory "
              "that overlaps it");
    CHECK(refused([&](auto& a) { a.epsilon = 0; }, x) ==
          statistics + "epsilon: expected a finite number above 0, got 0");
    CHECK(refused([&](auto& a) { a.momentum = 2; }, x) == statistics + "momentum: expected 0 to 1, got 2");
    CHECK(refused([&](auto& a) { a.running_mean = three, a.running_variance = others; }, x) == "accepted");
}

namespace {
/// A statistics operator without a check.
struct Unchecked : fk::ChannelStatistics {
    static void check(Args const&, fk::Check const&) {}
};
}  // namespace

TEST_CASE("operators of statistics after a Conv are refused without scratch for totals, whatever they check") {
    fk::host::Device device(1);
    auto const x = fk::random<float>(device, fk::nchw(1, 2, 9, 8));
    auto const weights = fk::random<float>(device, fk::kcrs(3, 2, 1, 1));
    auto mean = fk::random<float>(device, fk::channels(3)), variance = fk::random<float>(device, fk::channels(3));
    auto scratch = fk::random<float>(device, fk::channels(17));  // 3 words of 3 channels of 2 x 64 pixels are 18
    using Plan = fk::Plan<fk::Conv<fk::filter(1, 1)>, Unchecked>;
    CHECK_THROWS_WITH((void)Plan::bind({.weights = weights}, {.mean = mean, .variance = variance})(device, x),
                      Catch::Matchers::EndsWith(
                          "scratch: expected at least 18 floats, for totals of tiles after a Conv or Gemm, got none"));
    CHECK_THROWS_WITH(
        (void)Plan::bind({.weights = weights}, {.mean = mean, .variance = variance, .scratch = scratch})(device, x),
        Catch::Matchers::EndsWith("got 17"));
}
