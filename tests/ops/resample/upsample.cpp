// SPDX-License-Identifier: MIT
#include "fusekit/ops/resample/upsample.hpp"

#include <limits>

#include "support/refusal.hpp"
#include "support/resampled.hpp"

using namespace test;

constexpr auto numbers = fk::literal<fk::nchw(1, 1, 1, 2)>(4, 8);
static_assert(fk::Plan<fk::UpsampleNearest<2>>::evaluate(numbers, {}) ==
              fk::literal<fk::nchw(1, 1, 2, 4)>(4, 4, 8, 8, 4, 4, 8, 8));
static_assert(fk::Plan<fk::UpsampleBilinear<1, 2>>::evaluate(numbers, {}) ==
              fk::literal<fk::nchw(1, 1, 1, 4)>(4, 5, 7, 8));
static_assert(!fk::Fusable<fk::Bias, fk::UpsampleNearest<2>>);

TEST_CASE("upsampling repeats or interpolates, in every layout and type") {
    for (int const threads : {1, 2}) {
        fk::host::Device device(threads);
        check_upsampling<float, true>(device);
    }
    fk::host::Device device(2);
    check_upsampling<fk::half, false>(device);
    check_upsampling<Types<fk::bfloat16, float>, false>(device);
    check_upsampling<double, false>(device);
}

TEST_CASE("the gradient of UpsampleNearest is a scaled mean of each block") {
    fk::host::Device device(1);
    std::vector<double> const values = integers(24, -9, 9, 3);
    oracle::Tensor const dy({1, 1, 4, 6}, values);
    Filled<float, fk::host::Device, 4> in(device, "nchw", dy.shape, values);
    auto const dx = fk::Plan<fk::Scale, fk::Pool<fk::Average, 2, 2>>::bind({.factor = 4}, {})(device, in.view());
    for (int i = 0; i < 6; ++i) {
        double sum = 0;
        for (int j = 0; j < 4; ++j) sum += element(dy, 0, 0, i / 3 * 2 + j / 2, i % 3 * 2 + j % 2).value;
        CHECK(static_cast<double>(dx.data()[i]) == sum);
    }
}

TEST_CASE("upsampling stores values and a maximum before an activation") {
    fk::host::Device device(2);
    check_stored_upsampling(device);
}

TEST_CASE("UpsampleBilinear keeps infinite values where it reads one element, and at the edges") {
    fk::host::Device device(1);
    float const least = -std::numeric_limits<float>::infinity();
    auto const x = fk::tensor<float>(device, fk::nchw(1, 1, 1, 2), {1, least});
    auto const y = fk::Plan<fk::UpsampleBilinear<1, 3>>::bind({})(device, x);
    std::vector<float> values(6);
    y.copy_to(values.data());
    CHECK(values == std::vector<float>{1, 1, least, least, least, least});
    auto const first = fk::tensor<float>(device, fk::nchw(1, 1, 1, 2), {least, 1});
    fk::Plan<fk::UpsampleBilinear<1, 3>>::bind({})(device, first).copy_to(values.data());
    CHECK(values == std::vector<float>{least, least, least, least, 1, 1});
}

TEST_CASE("upsampling refuses signals") {
    fk::host::Device device(1);
    auto const x = fk::random<float>(device, fk::ncw(2, 3, 5));
    CHECK(refusal([&] { static_cast<void>(fk::Plan<fk::UpsampleNearest<2>>::bind({})(device, x)); }) ==
          "Plan<UpsampleNearest<2>>: UpsampleNearest<2>: expected x of images, N x C x H x W, got 2 x 3 x 5");
}
