// SPDX-License-Identifier: MIT
#include "fusekit/ops/pool.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "support/pooled_windows.hpp"
#include "support/refusal.hpp"
#include "support/resampled.hpp"

using namespace test;
using MaxPool = fk::Pool<fk::Max, 2, 2>;
using AveragePool = fk::Pool<fk::Average, 2, 2>;
using ResNet = fk::Pool<fk::Max, fk::filter(3, 3).stride(2).pad(1)>;
using Same = fk::Pool<fk::Average, fk::filter(3, 3).pad(1)>;

static_assert(fk::PoolingOp<MaxPool> && fk::PoolingOp<fk::GlobalAverage>);
static_assert(!fk::Fusable<MaxPool, fk::Bias>);
static_assert(!fk::Fusable<fk::BatchNormTraining<fk::Spatial>, MaxPool>);
static_assert(!fk::Fusable<fk::Conv<fk::filter(1, 1)>, fk::GlobalAverage>);
static_assert(!fk::Fusable<fk::Conv<fk::filter(1, 1)>, ResNet> && fk::Fusable<fk::Residual, ResNet>);
static_assert(!fk::Fusable<fk::Store, ResNet> && fk::Fusable<fk::Store, fk::Pool<fk::Max, 3, 3>>);
static_assert(!fk::Fusable<fk::Conv<fk::filter(1, 1)>, fk::Pool<fk::Max, fk::filter(2, 2).stride(2)>>);

constexpr auto numbers = fk::literal<fk::nchw(1, 1, 2, 4)>(1, 2, 3, 4, -5, 6, 7, -8);
static_assert(fk::Plan<fk::Scale, MaxPool>::evaluate(numbers, {.factor = 2}, {}) ==
              fk::literal<fk::nchw(1, 1, 1, 2)>(12, 14));
static_assert(fk::Plan<AveragePool>::evaluate(numbers, {}) == fk::literal<fk::nchw(1, 1, 1, 2)>(1, 1.5f));
static_assert(fk::Plan<ResNet>::evaluate(numbers, {}) == fk::literal<fk::nchw(1, 1, 1, 2)>(6, 7));
static_assert(fk::Plan<Same>::evaluate(numbers, {}) ==
              fk::literal<fk::nchw(1, 1, 2, 4)>(1, 14 / 6.0f, 14 / 6.0f, 1.5f, 1, 14 / 6.0f, 14 / 6.0f, 1.5f));
static_assert(fk::Plan<fk::Activation<fk::Relu>, fk::GlobalAverage>::evaluate(numbers, {}, {}) ==
              fk::literal<fk::nchw(1, 1, 1, 1)>(2.875f));

TEST_CASE("Pool reads the values at its position, in every layout and type") {
    for (int const threads : {1, 2}) {
        fk::host::Device device(threads);
        check_pooled_windows(device);
        check_pooled_filters(device);
        check_pooled_convs(device);
        using Taps = fk::Pool<fk::MaxWithTaps, 2, 2>;
        for (PooledLayouts const& layouts : {PooledLayouts{"nchw", "nhwc"}, PooledLayouts{"nhwc", "nchw*2"}})
            check_pooled_channels<Taps, fk::half>(device, layouts, {2, 5, 10, 6}, 19,
                                                  {.r = 3, .s = 1, .top = 1, .bottom = 1});
        check_pool_rules(device);
    }
}

using Padded = fk::Pool<fk::AverageWithPadding, fk::filter(3, 3).pad(1)>;
using Ceil = fk::Pool<fk::Max, fk::filter(2, 3).stride(2), fk::ceil_mode>;
static_assert(fk::Plan<Padded>::evaluate(numbers, {}) ==
              fk::literal<fk::nchw(1, 1, 2, 4)>(4 / 9.0f, 14 / 9.0f, 14 / 9.0f, 6 / 9.0f, 4 / 9.0f, 14 / 9.0f,
                                                14 / 9.0f, 6 / 9.0f));
static_assert(fk::Plan<Ceil>::evaluate(numbers, {}) == fk::literal<fk::nchw(1, 1, 1, 2)>(7, 7));
static_assert(fk::Fusable<fk::Conv<fk::filter(1, 1)>, fk::Pool<fk::MaxWithTaps, 2, 2>> &&
              !fk::Fusable<fk::Conv<fk::filter(1, 1)>, fk::Pool<fk::MaxWithTaps, fk::filter(2, 2).stride(2)>>);

TEST_CASE("ceil_mode leaves out a window that would begin in the padding after the image") {
    // PyTorch's formula: (5 + 2 - 2 + 1) / 2 + 1 = 4, and window 3 would begin at 5, beyond elements 0 to 4.
    using Pool = fk::Pool<fk::Average, fk::filter(1, 2).stride(1, 2).pad(0, 1), fk::ceil_mode>;
    CHECK(fk::Plan<Pool>::bind({}).output_shape(fk::nchw(1, 1, 1, 5).shape) == fk::nchw(1, 1, 1, 3).shape);
    CHECK(fk::Plan<Pool>::bind({}).output_shape(fk::nchw(1, 1, 1, 6).shape) == fk::nchw(1, 1, 1, 4).shape);
    CHECK(fk::type_name<Pool>() == "Pool<Average, filter(1, 2).pad(0, 1).stride(1, 2), ceil_mode>");
}

TEST_CASE("plans on double pool doubles") {
    fk::host::Device device(2);
    check_pooled_pointwise<MaxPool, double, 4>(device, {"nchw", "nhwc"}, {2, 5, 4, 6});
    check_pooled_channels<fk::Pool<fk::MaxWithTaps, 2, 2>, double>(device, {"nchw", "nhwc"}, {2, 4, 4, 6}, 6, {});
    check_pooled_conv<AveragePool, double>(device, {"nchw", "nhwc"}, {2, 4, 5, 7}, 6, {.r = 2, .s = 2, .groups = 2});
    check_pooled_pointwise<fk::GlobalAverage, double, 4>(device, {"nhwc", "nchw"}, {2, 5, 3, 7});
    check_pooled_filter<Same, double>(device, {"nchw", "nhwc"}, {2, 5, 4, 7});
    check_pooled_filter<Padded, double>(device, {"nchw", "nhwc"}, {2, 5, 4, 7});
}

TEST_CASE("Pool<Max> of a window with a NaN is NaN, at any position") {
    fk::host::Device device(1);
    float const nan = std::numeric_limits<float>::quiet_NaN(), most = std::numeric_limits<float>::infinity();
    for (int at = 0; at < 4; ++at) {
        std::vector<float> values{1, most, -most, 2};
        values[static_cast<std::size_t>(at)] = nan;
        for (auto const& layout : {fk::nchw(1, 1, 2, 2), fk::nhwc(1, 2, 2, 1)}) {
            fk::TensorView<float const> const x(values.data(), layout);
            CHECK(std::isnan(fk::Plan<MaxPool>::bind({})(device, x).data()[0]));
        }
    }
    std::vector<float> const values{-most, -most, -most, -most};
    fk::TensorView<float const> const x(values.data(), fk::nchw(1, 1, 2, 2));
    CHECK(fk::Plan<MaxPool>::bind({})(device, x).data()[0] == -most);
}

TEST_CASE("a NaN is the largest of every window of a filter that holds it, and of no other") {
    fk::host::Device device(1);
    for (auto const& layout : {fk::nchw(1, 1, 5, 5), fk::nhwc(1, 5, 5, 1)}) {
        std::vector<float> values(25, -1);
        values[12] = std::numeric_limits<float>::quiet_NaN();
        auto const y = fk::Plan<ResNet>::bind({})(device, fk::TensorView<float const>(values.data(), layout));
        for (int i = 0; i < 9; ++i) CHECK((i == 4 ? std::isnan(y.data()[i]) : y.data()[i] == -1));
    }
}

TEST_CASE("Pool of 2 x 2 refuses odd images and outputs of another shape") {
    fk::host::Device device(1);
    using Layer = fk::Plan<fk::Bias, MaxPool>;
    auto const bias = fk::random<float>(device, fk::channels(3));
    auto const layer = Layer::bind({.bias = bias}, {});
    auto const refused = [&](auto const& x, auto y) {
        for (std::int64_t i = 0; i < y.size(); ++i) y.data()[i] = 77;
        std::string const text = refusal([&] { layer(device, x, y); });
        for (std::int64_t i = 0; i < y.size(); ++i)
            if (y.data()[i] != 77 && text != "accepted") return "written: " + text;
        return text;
    };
    auto const of = [&](auto const& layout) { return fk::random<float>(device, layout); };
    std::string const plan = "Plan<Bias, Pool<Max, 2, 2>>: ",
                      even = "Pool<Max, 2, 2>: expected images that windows of ";
    CHECK(refused(of(fk::nchw(2, 3, 4, 6)), of(fk::nchw(2, 3, 2, 3))) == "accepted");
    CHECK(refused(of(fk::nchw(2, 3, 5, 6)), of(fk::nchw(2, 3, 2, 3))) ==
          plan + even + "2 x 2 divide, got 2 x 3 x 5 x 6");
    CHECK(refused(of(fk::nchw(2, 3, 4, 7)), of(fk::nchw(2, 3, 2, 3))) ==
          plan + even + "2 x 2 divide, got 2 x 3 x 4 x 7");
    CHECK(refused(of(fk::ncw(2, 3, 6)), of(fk::ncw(2, 3, 3))) == plan + even + "2 x 2 divide, got 2 x 3 x 6");
    CHECK(refused(of(fk::nchw(2, 3, 4, 6)), of(fk::nchw(2, 3, 4, 6))) ==
          plan + "y: expected 2 x 3 x 2 x 3 (N x K x P x Q), got 2 x 3 x 4 x 6");
    CHECK(layer.output_shape(fk::nchw(2, 3, 4, 6).shape) == fk::nchw(2, 3, 2, 3).shape);
}

TEST_CASE("Pool with a filter refuses signals and images smaller than the window") {
    fk::host::Device device(1);
    auto const of = [&](auto const& layout) {
        auto const x = fk::random<float>(device, layout);
        return refusal(
            [&] { static_cast<void>(fk::Plan<fk::Pool<fk::Average, fk::filter(3, 4)>>::bind({})(device, x)); });
    };
    std::string const name = "Pool<Average, filter(3, 4)>", start = "Plan<" + name + ">: " + name + ": expected ";
    CHECK(of(fk::nchw(2, 3, 3, 4)) == "accepted");
    CHECK(of(fk::nchw(2, 3, 2, 4)) == start + "images, and an output of at least 1 x 1, got 2 x 3 x 2 x 4");
    CHECK(of(fk::nhwc(2, 3, 3, 4)) == start + "images, and an output of at least 1 x 1, got 2 x 4 x 3 x 3");
    CHECK(of(fk::ncw(2, 3, 9)) == start + "images, and an output of at least 1 x 1, got 2 x 3 x 9");
}
