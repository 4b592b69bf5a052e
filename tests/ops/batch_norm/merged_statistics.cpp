// SPDX-License-Identifier: MIT
#include "fusekit/ops/batch_norm/merged_statistics.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/refusal.hpp"

namespace fk = fusekit;

static_assert(fk::StatisticsOp<fk::MergedStatistics>);
static_assert(fk::Fusable<fk::MergedStatistics>);
static_assert(!fk::TileStatisticsOp<fk::MergedStatistics>);
static_assert(!fk::Fusable<fk::Conv<fk::filter(1, 1)>, fk::MergedStatistics>);
static_assert(!fk::Fusable<fk::MergedStatistics, fk::ChannelStatistics>);
static_assert(!fk::Fusable<fk::BatchNormTraining<fk::Spatial>, fk::MergedStatistics>);

namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

/// Statistics of parts, R rows of K, and the outputs of their merge.
struct Parts {
    std::vector<double> means, variances;
    std::vector<float> counts;
    std::int64_t k = 2;
    std::vector<float> mean = poison(), variance = poison(), count{-9}, running_mean{5, 5}, running_variance{5, 5};

    std::vector<float> poison() const { return std::vector<float>(static_cast<std::size_t>(k), -9); }
    fk::Layout<4> layout() const { return fk::nchw(static_cast<std::int64_t>(counts.size()), k, 1, 1); }
    static fk::TensorView<float, 1> view(std::vector<float>& of) {
        return {of.data(), fk::channels(static_cast<std::int64_t>(of.size()))};
    }
    template <class T>
    void merge(std::vector<T>* y = nullptr) {
        fk::host::Device device(1);
        std::vector<T> const x(means.begin(), means.end()), of_parts(variances.begin(), variances.end());
        auto const layer =
            fk::Plan<fk::MergedStatistics>::bind({.variances = fk::TensorView<T const>(of_parts.data(), layout()),
                                                  .count = fk::TensorView<float const, 1>(view(counts)),
                                                  .mean = view(mean),
                                                  .variance = view(variance),
                                                  .total_count = view(count),
                                                  .running_mean = view(running_mean),
                                                  .running_variance = view(running_variance),
                                                  .momentum = 0.5f});
        fk::TensorView<T const> const all(x.data(), layout());
        if (y) layer(device, all, fk::TensorView<T>(y->data(), layout()));
        else layer(device, all, fk::no_output);
    }
};

/// {1, 3}, {5, 7} and, in channel 1, {-8, 8}, {4, 4}; a part without values; {9} and {-2}.
Parts integers() {
    return {{2, 0, 6, 4, no_value, no_value, 9, -2}, {1, 64, 1, 0, no_value, no_value, 0, 0}, {2, 2, 0, 1}};
}

}  // namespace

TEST_CASE("merged statistics are exact where arithmetic is, and parts without values have no effect") {
    for (bool const in_double : {false, true}) {
        Parts parts = integers();
        parts.means[6] = 4, parts.means[7] = 2;  // the mean of the others
        std::vector<float> y(8, -9);
        if (in_double) parts.merge<double>();
        else parts.merge<float>(&y);
        CHECK(parts.mean == std::vector<float>{4, 2});
        CHECK(parts.variance == std::vector<float>{4, 28.8f});  // 20 / 5, 144 / 5
        CHECK(parts.count == std::vector<float>{5});
        CHECK(parts.running_mean == std::vector<float>{4.5f, 3.5f});
        CHECK(parts.running_variance == std::vector<float>{5, 20.5f});  // halfway to 20 / 4 and 144 / 4
        if (!in_double) CHECK((y[0] == 2 && y[1] == 0 && y[3] == 4 && std::isnan(y[4]) && y[7] == 2));
    }
}

TEST_CASE("a first part of one far value does not cancel in the variance") {
    Parts parts{{0, 0, 4096, 4096}, {0, 0, 1, 1}, {1, 1000000}};
    parts.merge<float>();
    double const n = 1000001, expected = (1000000 + 4096.0 * 4096e6 / n) / n;
    CHECK(std::fabs(double{parts.variance[0]} - expected) < 8 * 0x1p-24 * expected);
    CHECK(std::fabs(double{parts.mean[1]} - 4096e6 / n) < 2 * 0x1p-24 * 4096);
}

TEST_CASE("of fewer than two values the running statistics stay") {
    Parts one{{7, 8}, {0, 0}, {1}}, none{{no_value, no_value}, {no_value, no_value}, {0}};
    one.merge<float>(), none.merge<float>();
    CHECK((one.mean == std::vector<float>{7, 8} && one.variance == std::vector<float>{0, 0}));
    CHECK((none.mean == std::vector<float>{0, 0} && none.variance == std::vector<float>{0, 0}));
    CHECK((one.count[0] == 1 && none.count[0] == 0));
    for (Parts const& parts : {one, none})
        CHECK((parts.running_mean == std::vector<float>{5, 5} && parts.running_variance == std::vector<float>{5, 5}));
}

TEST_CASE("parts of wrong shapes and types are refused") {
    fk::host::Device device(1);
    auto const x = fk::random<float>(device, fk::nchw(4, 2, 1, 1)),
               image = fk::random<float>(device, fk::nchw(4, 2, 1, 2));
    auto const halves = fk::random<fk::half>(device, fk::nchw(4, 2, 1, 1));
    auto const count = fk::random<float>(device, fk::channels(4)), three = fk::random<float>(device, fk::channels(3));
    auto mean = fk::random<float>(device, fk::channels(2)), variance = fk::random<float>(device, fk::channels(2));
    using Args = fk::MergedStatistics::Args;
    auto const refused = [&](Args const& args, auto const& means) {
        return test::refusal([&] { fk::Plan<fk::MergedStatistics>::bind(args)(device, means, fk::no_output); });
    };
    std::string const merged = "Plan<MergedStatistics>: MergedStatistics.";
    CHECK(refused({x, count, mean, variance}, halves) == merged + "x: expected means of float or double, got half");
    CHECK(refused({image, count, mean, variance}, image) ==
          merged + "x: expected one mean per part and channel, R x K x 1 x 1, got 2");
    CHECK(refused({image, count, mean, variance}, x)
              .find("variances: expected 4 x 2 x 1 x 1 (N x K x P x Q), got 4 x 2 x 1 x 2") != std::string::npos);
    CHECK(refused({x, three, mean, variance}, x) == merged + "count: expected 4 (N), got 3");
    CHECK(refused({x, count, mean, mean}, x) ==
          merged + "variance: expected memory apart from that of MergedStatistics.mean, got memory that overlaps it");
    CHECK(refused({x, count, mean, variance}, x) == "accepted");
}
