// SPDX-License-Identifier: MIT
#include "fusekit/ops/group_norm.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "fusekit/fusekit.hpp"
#include "support/large_means.hpp"
#include "support/refusal.hpp"

namespace fk = fusekit;
using test::refusal;

namespace {

using Norm = fk::GroupNormFromStatistics;
using Silu = fk::Activation<fk::Silu>;
using Three = fk::Conv<fk::filter(3, 3).pad(1)>;
static_assert(fk::Channelwise<Norm> && fk::Differentiable<Norm>);
static_assert(fk::Fusable<Norm, Silu, Three, fk::Bias, fk::Residual, fk::ChannelStatistics>);
static_assert(!fk::Fusable<Silu, Norm, Three> && !fk::Fusable<Norm, fk::BatchNormInference<fk::Spatial>>);

constexpr int channels = 12, height = 5, width = 7, groups = 4;

/// The GroupNorm of x, channels-last, by its definition: mean and variance over all values of a group.
std::vector<double> normalized(std::vector<float> const& x, std::vector<float> const& scale,
                               std::vector<float> const& shift, double epsilon) {
    std::vector<double> y(x.size());
    for (int group = 0; group < groups; ++group) {
        int const first = group * channels / groups, end = first + channels / groups;
        double sum = 0, squares = 0, count = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            if (int const k = int(i) % channels; k >= first && k < end) sum += double(x[i]), ++count;
        for (std::size_t i = 0; i < x.size(); ++i)
            if (int const k = int(i) % channels; k >= first && k < end)
                squares += (double(x[i]) - sum / count) * (double(x[i]) - sum / count);
        for (std::size_t i = 0; i < x.size(); ++i)
            if (int const k = int(i) % channels; k >= first && k < end)
                y[i] = double(scale[std::size_t(k)]) * (double(x[i]) - sum / count) /
                           std::sqrt(squares / count + epsilon) +
                       double(shift[std::size_t(k)]);
    }
    return y;
}

struct Data {
    fk::host::Device device{2};
    fk::Tensor<float, fk::host::Device> x = fk::random<float>(device, fk::nhwc(1, height, width, channels), 1),
                                        y = fk::random<float>(device, x.layout(), 2);
    fk::Tensor<float, fk::host::Device, 1> scale = fk::random<float>(device, fk::channels(channels), 3),
                                           shift = fk::random<float>(device, fk::channels(channels), 4),
                                           mean = fk::random<float>(device, fk::channels(channels), 5),
                                           variance = fk::random<float>(device, fk::channels(channels), 6);

    template <class Tensor>
    std::vector<float> values(Tensor const& tensor) const {
        std::vector<float> result(std::size_t(tensor.layout().size()));
        tensor.copy_to(result.data());
        return result;
    }
    /// Adds a mean of its own to each channel of x: base + step * k.
    void shift_channels(float base, float step) {
        auto all = values(x);
        for (std::size_t i = 0; i < all.size(); ++i) all[i] += base + step * float(int(i) % channels);
        x.copy_from(all.data());
    }
    Norm::Args args() { return {mean, variance, scale, shift, groups, 0.01f}; }
};

}  // namespace

TEST_CASE("the group norm of one image from the statistics of its channels is that of its values") {
    for (float const base : {0.0f, 1e4f}) {
        Data of;
        of.shift_channels(base, 3);
        fk::Plan<fk::ChannelStatistics>::bind({.mean = of.mean, .variance = of.variance})(of.device, of.x, of.y);
        fk::Plan<Norm>::bind(of.args())(of.device, of.x, of.y);
        auto const found = of.values(of.y);
        auto const expected = normalized(of.values(of.x), of.values(of.scale), of.values(of.shift), double{0.01f});
        double largest = 0;
        for (std::size_t i = 0; i < found.size(); ++i)
            largest = std::fmax(largest, std::fabs(double(found[i]) - expected[i]));
        // sums of 105 values less a shift, and means that are rounded, both below base + 34; |scale| / sqrt(v) < 1
        CHECK(largest < (128 + double{base} + 34) * 0x1p-24);
    }
}

TEMPLATE_TEST_CASE("a group norm from statistics does not cancel where the mean is large beside the deviation", "",
                   float, fk::half) {
    fk::host::Device device{1};
    for (float const base : {0.0f, 1e3f, -1900.0f, 1e4f}) {
        CAPTURE(base);
        CHECK(test::wrong_norms_of_large_means<TestType>(device, base, [&](auto const& args, auto const& x, auto& y) {
                  fk::Plan<Norm>::bind(args)(device, x, y);
              }) == 0);
    }
}

TEST_CASE("a group norm from statistics of equal values is the shift exactly") {
    Data of;
    std::vector<float> const means(channels, 1000.1f), variances(channels, 0.0f),
        x(std::size_t(of.x.layout().size()), 1000.1f);
    of.mean.copy_from(means.data()), of.variance.copy_from(variances.data()), of.x.copy_from(x.data());
    fk::Plan<Norm>::bind(of.args())(of.device, of.x, of.y);
    std::vector<float> const y = of.values(of.y), shifts = of.values(of.shift);
    int wrong = 0;
    for (std::size_t i = 0; i < y.size(); ++i) wrong += !(y[i] == shifts[i % channels]);
    CHECK(wrong == 0);
}

TEST_CASE("a group norm from statistics is a Conv's prologue, whose padding is zero after it") {
    Data of;
    constexpr int filters = 3;
    auto const weights = fk::random<float>(of.device, fk::krsc(filters, 3, 3, channels), 7);
    fk::Tensor<float, fk::host::Device> y(of.device, fk::nhwc(1, height, width, filters));
    fk::Plan<fk::ChannelStatistics>::bind({.mean = of.mean, .variance = of.variance})(of.device, of.x, of.y);
    fk::Plan<Norm, Silu, Three>::bind(of.args(), {}, {.weights = weights})(of.device, of.x, y);
    auto before = normalized(of.values(of.x), of.values(of.scale), of.values(of.shift), double{0.01f});
    for (double& each : before) each /= 1 + std::exp(-each);
    auto const w = of.values(weights), found = of.values(y);
    double largest = 0;
    for (int p = 0; p < height; ++p)
        for (int q = 0; q < width; ++q)
            for (int k = 0; k < filters; ++k) {
                double sum = 0;
                for (int r = 0; r < 3; ++r)
                    for (int s = 0; s < 3; ++s) {
                        int const row = p + r - 1, column = q + s - 1;
                        if (row < 0 || row >= height || column < 0 || column >= width) continue;
                        for (int c = 0; c < channels; ++c)
                            sum += before[std::size_t((row * width + column) * channels + c)] *
                                   double(w[std::size_t(((k * 3 + r) * 3 + s) * channels + c)]);
                    }
                largest =
                    std::fmax(largest, std::fabs(double(found[std::size_t((p * width + q) * filters + k)]) - sum));
            }
    CHECK(largest < 108 * 64 * 0x1p-24);  // 108 products below 4, of values with the error of some roundings
}

TEST_CASE("a group norm from statistics refuses other numbers of images, channels and groups") {
    Data of;
    auto const run = [&](Norm::Args const& args) {
        auto const before = of.values(of.y);
        std::string const result = refusal([&] { fk::Plan<Norm>::bind(args)(of.device, of.x, of.y); });
        CHECK(of.values(of.y) == before);
        return result;
    };
    auto args = of.args();
    args.groups = 5;
    CHECK(run(args).find("GroupNormFromStatistics.groups: expected a divisor of K = 12, got 5") != std::string::npos);
    args.groups = 0;
    CHECK(run(args).find("expected a divisor of K = 12, got 0") != std::string::npos);
    args = of.args();
    args.epsilon = -1;
    CHECK(run(args).find("epsilon") != std::string::npos);
    auto const two = fk::random<float>(of.device, fk::nhwc(2, 3, 3, channels), 1);
    CHECK(refusal([&] {
              (void)fk::Plan<Norm>::bind(of.args())(of.device, two);
          }).find("the statistics of one image, got 2") != std::string::npos);
}
