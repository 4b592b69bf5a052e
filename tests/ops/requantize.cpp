// SPDX-License-Identifier: MIT
#include "fusekit/ops/requantize.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support/device_of.hpp"
#include "support/int8_cases.hpp"
#include "support/refusal.hpp"

using namespace test;

static_assert(fk::EpilogueOp<fk::Requantize>);
constexpr auto numbers = fk::literal<fk::nchw(1, 2, 1, 2)>(10, -4, 10, -4);
constexpr auto scales = fk::literal<fk::channels(2)>(0.5f, -2);
static_assert(fk::Plan<fk::Requantize>::evaluate(numbers, {.scale = scales, .zero_point = 3}) ==
              fk::literal<fk::nchw(1, 2, 1, 2)>(8, 1, -17, 11));

TEST_CASE("plans on int8 compute what the oracle does") { check_int8(device_of, 40, 1e7); }

TEST_CASE("int8 accumulates in int32") {
    fk::host::Device device(2);
    check_large_sums(device);
}

TEST_CASE("results are rounded to nearest even and saturated") {
    fk::host::Device device(1);
    auto const x = fk::tensor<fk::int8>(device, fk::nchw(1, 1, 1, 9), {1, 3, -1, -3, 5, 127, -128, 64, -65});
    auto const half = fk::tensor<float>(device, fk::channels(1), {0.5f}),
               two = fk::tensor<float>(device, fk::channels(1), {2});
    auto const halved = fk::Plan<fk::Requantize>::bind({.scale = half})(device, x);
    auto const doubled = fk::Plan<fk::Requantize>::bind({.scale = two, .zero_point = 1})(device, x);
    int const halves[] = {0, 2, 0, -2, 2, 64, -64, 32, -32}, doubles[] = {3, 7, -1, -5, 11, 127, -128, 127, -128};
    for (int i = 0; i < 9; ++i) {
        CHECK(halved.data()[i].value == halves[i]);
        CHECK(doubled.data()[i].value == doubles[i]);
    }
}

TEST_CASE("sums that may overflow 32 bits, and the wrong number of scales, are refused") {
    fk::host::Device device(1);
    fk::int8 const one = 1.0f;
    auto const repeated = [&](auto layout) {
        layout.stride = {};
        return fk::TensorView<fk::int8 const>(&one, layout);
    };
    auto const layer = [&](std::int64_t c) {
        return fk::Plan<fk::Conv<fk::filter(1, 1)>>::bind({.weights = repeated(fk::kcrs(1, c, 1, 1))})(
            device, repeated(fk::nchw(1, c, 1, 1)));
    };
    CHECK(layer(131071).data()->value == 127);
    CHECK(refusal([&] { layer(131072); }) ==
          "Plan<Conv<filter(1, 1)>>: Conv<filter(1, 1)>.weights: expected at most 131071 "
          "products an output, whose sum fits 32 bits, got 131072");
    auto const x = fk::tensor<fk::int8>(device, fk::nchw(1, 1, 1, 2), {1, 3});
    auto const two = fk::tensor<float>(device, fk::channels(2), {1, 2});
    CHECK_THROWS_AS(fk::Plan<fk::Requantize>::bind({.scale = two})(device, x), fk::Error);
}
