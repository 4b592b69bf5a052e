// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/copy/strip_prologue.hpp"

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "backend/hip/conv_block.hpp"
#include "backend/hip/sm90a_device.hpp"
#include "support/difference.hpp"
#include "support/dot_product.hpp"
#include "support/half_types.hpp"

using namespace test;
using fusekit::hip::StripHalo;

namespace {

using Sizes = ConvSizes;
template <class T>
using Block = ConvBlock<T>;

using Relu = fk::Activation<fk::Relu>;
using Silu = fk::Activation<fk::Silu>;
using Three = fk::Conv<fk::filter(3, 3).pad(1)>;

}  // namespace

// The prologue maps 0 to 1, so that padding that it reaches changes y. Rows of two images are in one tile.
TEMPLATE_LIST_TEST_CASE("HIP: StripHalo applies a prologue once to each element of x and leaves padding zero", "",
                        HalfTypes) {
    fk::hip::Device device = sm90a_device();
    auto strips = device.with<StripHalo<>>();
    using Layer = fk::Plan<fk::Requantize, Relu, Three, fk::Bias, fk::Residual>;
    for (Sizes const& sizes : {Sizes{2, 72, 35, 13, 128}, Sizes{1, 136, 9, 21, 40}, Sizes{3, 16, 5, 9, 264}}) {
        Block<TestType> block(device, sizes);
        Layer::bind({block.on_scale, 1}, {}, {.weights = block.on_weights}, {.bias = block.on_bias}, {.z = block.on_z})(
            strips, block.on_x, block.y);
        CAPTURE(sizes.n, sizes.c, sizes.h, sizes.w, sizes.k);
        CHECK(block.wrong(block.expected(
                  [&](double x, int c) { return std::fmax(x * block.scale[std::size_t(c)] + 1, 0.0); })) == 0);
    }
}

TEST_CASE("HIP: StripHalo's statistics are of the values before rounding, with and without a prologue") {
    fk::hip::Device device = sm90a_device();
    auto strips = device.with<StripHalo<>>();
    using Bare = fk::Plan<Three, fk::Bias, fk::Residual, fk::ChannelStatistics>;
    using Layer = fk::Plan<fk::Requantize, Relu, Three, fk::Bias, fk::Residual, fk::ChannelStatistics>;
    for (Sizes const& sizes : {Sizes{1, 72, 35, 13, 128}, Sizes{1, 16, 33, 65, 200}, Sizes{1, 64, 66, 35, 64}}) {
        CAPTURE(sizes.c, sizes.h, sizes.w, sizes.k);
        Block<fk::half> bare(device, sizes), block(device, sizes);
        for (double& each : bare.bias) each += sizes.k == 200 ? 4096 : 0;  // a mean that is large beside the deviation
        bare.fill(bare.on_bias, bare.bias);
        Bare::bind({.weights = bare.on_weights}, {.bias = bare.on_bias}, {.z = bare.on_z},
                   {.mean = bare.mean, .variance = bare.variance, .scratch = bare.scratch})(strips, bare.on_x, bare.y);
        auto const exact = bare.expected([](double x, int) { return x; });
        CHECK(bare.wrong(exact) == 0);
        bare.check_statistics(exact);
        Layer::bind({block.on_scale, 1}, {}, {.weights = block.on_weights}, {.bias = block.on_bias}, {.z = block.on_z},
                    {.mean = block.mean, .variance = block.variance, .scratch = block.scratch})(strips, block.on_x,
                                                                                                block.y);
        auto const after =
            block.expected([&](double x, int c) { return std::fmax(x * block.scale[std::size_t(c)] + 1, 0.0); });
        CHECK(block.wrong(after) == 0);
        block.check_statistics(after);
    }
}

// Nearest upsampling and a 3x3 convolution are a TransposedConv of 4x4 taps.
TEST_CASE("HIP: StripHalo's TransposedConv of stride 2 has statistics") {
    fk::hip::Device device = sm90a_device();
    auto strips = device.with<StripHalo<>>();
    using Layer = fk::Plan<fk::TransposedConv<fk::filter(4, 4).stride(2).pad(1)>, fk::Bias, fk::ChannelStatistics>;
    for (Sizes const& sizes : {Sizes{1, 72, 34, 11, 128}, Sizes{1, 16, 5, 19, 40}}) {
        CAPTURE(sizes.c, sizes.h, sizes.w, sizes.k);
        Sizes const doubled{1, sizes.c, 2 * sizes.h, 2 * sizes.w, sizes.k};
        Block<fk::half> block(device, sizes), of_y(device, doubled);
        fk::Tensor<fk::half, fk::hip::Device> weights(device, fk::krsc(sizes.c, 4, 4, sizes.k));
        auto const taps = integers(sizes.c * sizes.k * 16, -1, 1, 7);
        block.fill(weights, taps);
        std::vector<double> by_filter(taps.size());  // R x S x K x C
        for (int c = 0; c < sizes.c; ++c)
            for (int tap = 0; tap < 16; ++tap)
                for (int k = 0; k < sizes.k; ++k)
                    by_filter[std::size_t((tap * sizes.k + k) * sizes.c + c)] =
                        taps[std::size_t((c * 16 + tap) * sizes.k + k)];
        Layer::bind({.weights = weights}, {.bias = block.on_bias},
                    {.mean = of_y.mean, .variance = of_y.variance, .scratch = of_y.scratch})(strips, block.on_x,
                                                                                             of_y.y);
        std::vector<double> exact(of_y.z.size());
        std::size_t at = 0;
        for (int p = 0; p < doubled.h; ++p)
            for (int q = 0; q < doubled.w; ++q)
                for (int k = 0; k < sizes.k; ++k, ++at) {
                    double sum = block.bias[std::size_t(k)];
                    for (int r = 0; r < 4; ++r)
                        for (int s = 0; s < 4; ++s) {
                            int const row = p + 1 - r, column = q + 1 - s;  // twice the row and column of x
                            if (row % 2 != 0 || column % 2 != 0 || row < 0 || column < 0 || row / 2 >= sizes.h ||
                                column / 2 >= sizes.w)
                                continue;
                            sum += dot_product(&by_filter[std::size_t(((r * 4 + s) * sizes.k + k) * sizes.c)],
                                               &block.x[std::size_t((row / 2 * sizes.w + column / 2) * sizes.c)],
                                               std::size_t(sizes.c));
                        }
                    exact[at] = sum;
                }
        CHECK(of_y.wrong(exact) == 0);
        of_y.check_statistics(exact);
    }
}

namespace {

using NormLayer = fk::Plan<fk::GroupNormFromStatistics, Silu, Three, fk::Bias, fk::Residual, fk::ChannelStatistics>;

/// A decoder's layer on a schedule, against sums in double of the values that the prologue rounds to half.
template <class Scheduled>
void check_group_norm(Scheduled&& device, fk::hip::Device& memory, Sizes const& sizes) {
    constexpr int groups = 4;
    Block<fk::half> block(memory, sizes);
    auto const c = std::size_t(sizes.c);
    std::vector<double> means = integers(sizes.c, -2, 2, 11), variances = integers(sizes.c, 1, 4, 12);
    fk::Tensor<float, fk::hip::Device, 1> mean(memory, fk::channels(sizes.c)), variance(memory, mean.layout());
    block.fill(mean, means), block.fill(variance, variances);
    NormLayer::bind({mean, variance, block.on_scale, block.on_scale, groups}, {}, {.weights = block.on_weights},
                    {.bias = block.on_bias}, {.z = block.on_z},
                    {.mean = block.mean, .variance = block.variance, .scratch = block.scratch})(device, block.on_x,
                                                                                                block.y);
    std::vector<double> factor(c), term(c);
    for (std::size_t k = 0; k < c; ++k) {
        std::size_t const of_group = c / groups, first = k / of_group * of_group;
        double m = 0, v = 0;
        for (std::size_t j = first; j < first + of_group; ++j) m += means[j] / double(of_group);
        for (std::size_t j = first; j < first + of_group; ++j)
            v += (variances[j] + (means[j] - m) * (means[j] - m)) / double(of_group);
        factor[k] = block.scale[k] / std::sqrt(v + double{1e-5f}), term[k] = block.scale[k] - m * factor[k];
    }
    auto const before = [&](double x, int k) {
        double const value = x * factor[std::size_t(k)] + term[std::size_t(k)];
        return value / (1 + std::exp(-value));
    };
    auto const exact = block.expected(before), found = block.values(block.y);
    double largest = 0;
    for (int x = -3; x <= 3; ++x)
        for (int k = 0; k < sizes.c; ++k) largest = std::fmax(largest, std::fabs(before(x, k)));
    // 9 c products of weights of at most 1 and values that are rounded to half; then y is
    double const bound = 9 * sizes.c * largest * 0x1p-11, of_y = 0x1p-10;
    int wrong = 0;
    for (std::size_t i = 0; i < exact.size(); ++i)
        wrong += !(std::fabs(found[i] - exact[i]) <= bound + of_y * std::fabs(exact[i]));
    CHECK(wrong == 0);
    // the kernel's statistics are those of its y but for y's rounding
    auto const saved = block.values(block.mean);
    for (std::size_t k = 0; k < std::size_t(sizes.k); ++k) {
        double sum = 0, of_channel = 0;
        for (std::size_t i = k; i < found.size(); i += std::size_t(sizes.k))
            sum += found[i], of_channel = std::fmax(of_channel, std::fabs(found[i]));
        CHECK(std::fabs(saved[k] - sum / (double(found.size()) / sizes.k)) <= of_y * of_channel);
    }
}

/// Values of x and their means are near 1000, and y is the prologue's value alone: the filters select one channel at
/// the middle tap. With u = 2^-24, n means of a group and their differences at most d: the error of the mean is (n + 3)
/// u d, of 1 / sqrt(variance) by a GPU's instruction (n / 2 + 7) u, and SiLU amplifies errors at most 1.1 times.
/// `in_shift`: the shift has the mean, and the rounding of their product with the scale.
template <class Scheduled>
void check_large_means(Scheduled&& device, fk::hip::Device& memory, Sizes const& sizes, bool in_shift) {
    constexpr int groups = 4;
    constexpr double base = 1000, u = 0x1p-24;
    Block<fk::half> block(memory, sizes);
    auto const c = std::size_t(sizes.c), n = c / groups;
    std::vector<double> means = integers(sizes.c, -2, 2, 11), variances = integers(sizes.c, 1, 4, 12);
    for (double& each : means) each = base + each / 64;
    for (double& each : block.x) each += base;
    block.weights.assign(block.weights.size(), 0);
    for (int k = 0; k < sizes.k; ++k) block.weights[(std::size_t(k) * 9 + 4) * c + std::size_t(k) % c] = 1;
    fk::Tensor<float, fk::hip::Device, 1> mean(memory, fk::channels(sizes.c)), variance(memory, mean.layout()),
        shift(memory, mean.layout());
    block.fill(mean, means), block.fill(variance, variances), block.fill(block.on_x, block.x);
    block.fill(block.on_weights, block.weights), block.fill(shift, std::vector<double>(c));
    block.fill(block.on_bias, std::vector<double>(block.bias.size()));
    block.fill(block.on_z, std::vector<double>(block.z.size()));
    NormLayer::bind({mean, variance, block.on_scale, shift, groups}, {}, {.weights = block.on_weights},
                    {.bias = block.on_bias}, {.z = block.on_z},
                    {.mean = block.mean, .variance = block.variance, .scratch = block.scratch})(device, block.on_x,
                                                                                                block.y);
    auto const found = block.values(block.y);
    int wrong = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        std::size_t const k = i % std::size_t(sizes.k) % c, first = k / n * n;
        double m = 0, v = 0, d = 0;
        for (std::size_t j = first; j < first + n; ++j) m += means[j] / double(n);
        for (std::size_t j = first; j < first + n; ++j) {
            v += (variances[j] + (means[j] - m) * (means[j] - m)) / double(n);
            d = std::fmax(d, std::fabs(means[j] - means[first]));
        }
        double const factor = block.scale[k] / std::sqrt(v + double{1e-5f}),
                     normalized = (block.x[i / std::size_t(sizes.k) * c + k] - m) * factor,
                     exact = normalized / (1 + std::exp(-normalized));
        double const of_norm = u * (double(n + 3) * d * factor + (double(n) / 2 + 10) * std::fabs(normalized) +
                                    (in_shift ? 1.5 * base * factor : 0)),
                     of_silu = (std::fabs(normalized) + 8) * u * std::fabs(exact);
        double const bound = 1.1 * of_norm + of_silu;
        wrong += !(std::fabs(found[i] - exact) <= bound + 0x1p-11 * (std::fabs(exact) + bound) + 0x1p-25);
    }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("HIP: a group norm from statistics and SiLU are a convolution's prologue") {
    fk::hip::Device device = sm90a_device();
    check_group_norm(device.with<StripHalo<>>(), device, {1, 72, 11, 13, 128});
    check_group_norm(device.with<fk::hip::MatrixGemm<128, 128>>(), device, {1, 72, 11, 13, 40});
    check_large_means(device.with<StripHalo<>>(), device, {1, 72, 11, 13, 128}, true);
    check_large_means(device.with<fk::hip::MatrixGemm<128, 128>>(), device, {1, 72, 11, 13, 40}, false);
}

// Kernels overlap on sm_90, and those with statistics share a workspace: each reads what the one before wrote last.
TEST_CASE("HIP: layers with statistics give the same bits enqueued at once as one after the other") {
    fk::hip::Device device = sm90a_device();
    auto strips = device.with<StripHalo<>>();
    using Doubling = fk::Plan<fk::TransposedConv<fk::filter(4, 4).stride(2).pad(1)>, fk::Bias, fk::ChannelStatistics>;
    constexpr int channels = 64, groups = 4;
    Sizes const small{1, channels, 9, 11, channels}, large{1, channels, 18, 22, channels};
    Block<fk::half> first(device, small), second(device, small), doubled(device, large), last(device, large);
    fk::Tensor<float, fk::hip::Device, 1> mean(device, fk::channels(channels)), variance(device, mean.layout());
    first.fill(mean, integers(channels, -2, 2, 11)), first.fill(variance, integers(channels, 1, 4, 12));
    fk::Tensor<fk::half, fk::hip::Device> taps(device, fk::krsc(channels, 4, 4, channels));
    first.fill(taps, integers(channels * channels * 16, -1, 1, 7));
    auto const poison = [](Block<fk::half>& block) {
        double const nan = std::numeric_limits<double>::quiet_NaN();
        std::vector<double> const of_y(block.z.size(), nan), of_channels(block.bias.size(), nan);
        block.fill(block.y, of_y), block.fill(block.mean, of_channels), block.fill(block.variance, of_channels);
    };
    auto const run = [&](bool synchronized) {
        for (auto* block : {&first, &second, &doubled, &last}) poison(*block);
        auto const layer = [&](auto& x, auto& m, auto& v, auto& z, Block<fk::half>& to) {
            NormLayer::bind({m, v, to.on_scale, to.on_scale, groups}, {}, {.weights = to.on_weights},
                            {.bias = to.on_bias}, {.z = z},
                            {.mean = to.mean, .variance = to.variance, .scratch = to.scratch})(strips, x, to.y);
            if (synchronized) device.synchronize();
        };
        layer(first.on_x, mean, variance, first.on_z, first);
        layer(first.y, first.mean, first.variance, first.on_x, second);
        Doubling::bind({.weights = taps}, {.bias = doubled.on_bias},
                       {.mean = doubled.mean, .variance = doubled.variance, .scratch = doubled.scratch})(
            strips, second.y, doubled.y);
        if (synchronized) device.synchronize();
        layer(doubled.y, doubled.mean, doubled.variance, last.on_z, last);
        return std::vector{last.values(last.y), last.values(last.mean), last.values(last.variance)};
    };
    auto const expected = run(true);
    for (auto const& values : expected)
        CHECK(std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); }));
    for (int repeat = 0; repeat < 3; ++repeat) CHECK(run(false) == expected);
}
