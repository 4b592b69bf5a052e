// SPDX-License-Identifier: MIT
#include "fusekit/backend/hip/collective/gemv_columns.hpp"

#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <string>

#include "backend/hip/sm90a_device.hpp"
#include "fusekit/hip.hpp"
#include "support/half_types.hpp"
#include "support/refusal.hpp"
#include "support/transposed_convolutions.hpp"

using namespace test;
using fusekit::hip::Gemv;

namespace {

constexpr auto one = fk::filter(1, 1);

/// Orders of the weights: filters contiguous, and aligned or not; channels contiguous.
struct FilterOrders {
    static constexpr char const* all[3][3] = {
        {"nhwc", "krsc", "nhwc"}, {"nhwc", "crsk", "nhwc"}, {"nhwc", "krsc+3", "nhwc"}};
};

}  // namespace

// One row of x to 32; odd and few filters; channels that fill no step, and that are no multiple of a lane's four.
TEMPLATE_LIST_TEST_CASE("Gemv computes gradients of 1x1 convolutions by x exactly", "", HalfTypes) {
    fk::hip::Device device = sm90a_device();
    auto gemv = device.with<Gemv<>>();
    for (auto const& [n, c, k] : {std::array{1, 8, 8},
                                  {32, 784, 196},
                                  {32, 6, 144},
                                  {7, 33, 144},
                                  {9, 36, 145},
                                  {17, 1000, 30},
                                  {32, 1, 20},
                                  {2, 2, 2000},
                                  {1, 24, 1}})
        check_transposed<TestType, one, false, FilterOrders>(gemv, {n, c, 1, 1}, k);
    check_transposed<TestType, one, false, FilterOrders>(gemv, {2, 24, 3, 4}, 72);
}

TEST_CASE("infinities and NaN reach only the outputs of Gemv's gradient that read them") {
    fk::hip::Device device = sm90a_device();
    auto gemv = device.with<Gemv<>>();
    for (int const k : {64, 38, 21}) check_transposed_infinities<fk::half, one>(gemv, {2, 20, 2, 5}, k);
    check_transposed_infinities<fk::half, one>(gemv, {2, 19, 1, 3}, 64);
}

TEST_CASE("Gemv refuses a gradient of more than 32 pixels") {
    fk::hip::Device device = sm90a_device();
    auto gemv = device.with<Gemv<>>();
    fk::Tensor<fk::half, fk::hip::Device> x(device, fk::nhwc(1, 3, 11, 8)), w(device, fk::krsc(8, 1, 1, 16));
    auto const layer = fk::Plan<fk::TransposedConv<one>>::bind({.weights = w});
    CHECK(refusal([&] { static_cast<void>(layer(gemv, x)); }) ==
          "Plan<TransposedConv<filter(1, 1)>>: Gemv: rows of x = 33 exceeds 32: use NativeGemm");
}
