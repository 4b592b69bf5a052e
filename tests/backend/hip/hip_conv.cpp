// SPDX-License-Identifier: MIT
#include "fusekit/hip_conv.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

namespace fk = fusekit;

TEST_CASE("HIP: a product and a description with the headers of hip_conv.hpp alone") {
    using Plan = fk::Plan<fk::Gemm, fk::Bias, fk::Activation<fk::Relu>>;
    CHECK(fk::type_name<Plan>() == fk::Text("Plan<Gemm, Bias, Activation<Relu>>"));
    if (fk::hip::device_count() == 0) SKIP("there is no GPU");
    fk::hip::Device device;
    auto const x = fk::tensor<float>(device, fk::row_major(2, 3), {1, 2, 3, -1, 0, 2}),
               w = fk::tensor<float>(device, fk::row_major(2, 3), {1, 0, 2, 0, -4, 1});
    auto const bias = fk::tensor<float>(device, fk::channels(2), {1, -1});
    auto const layer = Plan::bind({.weights = w}, {.bias = bias}, {});
    fk::Tensor<float, fk::hip::Device, 2> y(device, fk::row_major(2, 2));
    std::vector<float> values(4, __builtin_nanf(""));
    y.copy_from(values.data());
    constexpr auto x_layout = fk::row_major(2, 3), y_layout = fk::row_major(2, 2);
    layer(device.with_layouts<x_layout, y_layout>(), x, y);
    y.copy_to(values.data());
    CHECK(values == std::vector<float>{8, 0, 4, 1});
}
