// SPDX-License-Identifier: MIT
#include "fusekit/tensor/weights.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support/device_of.hpp"
#include "support/mixed_types.hpp"
#include "support/refusal.hpp"

using namespace test;

namespace {

using Geometry = fk::Filter<2>;
constexpr Geometry three = fk::filter(3, 3).pad(1);

/// Weights are multiplied exactly: half by half is a float.
constexpr auto row = fk::literal<fk::nchw(1, 1, 1, 2)>(3, 5);
constexpr auto two = fk::literal<fk::kcrs(1, 1, 1, 1)>(2);
static_assert(fk::Plan<fk::Conv<fk::filter(1, 1), fk::Weights<float>>>::evaluate(row, {.weights = two}) ==
              fk::literal<fk::nchw(1, 1, 1, 2)>(6, 10));

}  // namespace

TEST_CASE("weights may have another element type than x") {
    check_mixed_weights(device_of, 10, 2e6);
    fk::host::Device device(2);
    check_mixed_weights_of_products(device);
    check_scaled_int8_weights<fk::half>(device);
    check_scaled_int8_weights<float>(device);
    check_scaled_int8_weights<fk::bfloat16>(device);
}

TEST_CASE("weights of another type than a plan says are refused, and its name says which") {
    fk::host::Device device(1);
    auto const x = fk::random<fk::half>(device, fk::nchw(1, 2, 4, 4));
    auto const w = fk::random<float>(device, fk::kcrs(3, 2, 3, 3));
    using Quantized = fk::Plan<fk::Conv<three, fk::Weights<fk::int8>>, fk::Activation<fk::Relu>>;
    CHECK(refusal([&] { static_cast<void>(Quantized::bind({.weights = w}, {})(device, x)); }) ==
          "Plan<Conv<filter(3, 3).pad(1), Weights<int8>>, Activation<Relu>>: Conv<filter(3, 3).pad(1), "
          "Weights<int8>>.weights: expected int8, as its Weights are, got float");
    using AsInput = fk::Plan<fk::Conv<three>>;
    CHECK(refusal([&] { static_cast<void>(AsInput::bind({.weights = w})(device, x)); }) ==
          "Plan<Conv<filter(3, 3).pad(1)>>: Conv<filter(3, 3).pad(1)>.weights: expected half, as the input, got float: "
          "for weights of another type add the option Weights<float>");

    auto const m = fk::random<fk::half>(device, fk::row_major(4, 2)),
               n = fk::random<fk::half>(device, fk::row_major(3, 2));
    CHECK(
        refusal([&] {
            static_cast<void>(fk::Plan<fk::GemmWith<fk::Weights<fk::int8>>>::bind({.weights = n})(device, m));
        }) ==
        "Plan<GemmWith<Weights<int8>>>: GemmWith<Weights<int8>>.weights: expected int8, as its Weights are, got half");
    CHECK(fk::type_name<fk::Plan<fk::Gemm>>() == "Plan<Gemm>");
    CHECK(fk::type_name<fk::Conv<fk::dynamic, fk::Weights<signed char>>>() == "Conv<dynamic, Weights<int8>>");
}
