// SPDX-License-Identifier: MIT
// Plans of every kind on empty tensors: a run that writes nothing, or empty sums.
#include "fusekit/plan/empty.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support/empty_pointwise.hpp"
#include "support/empty_tensors.hpp"

using namespace test;

TEST_CASE("an empty convolution writes nothing, or its epilogue of zero sums") {
    fk::host::Device device(2);
    check_empty_conv<float, fk::filter(3, 3).pad(1)>(device);
    check_empty_conv<fk::half, fk::filter(1, 1).pad(1).stride(2)>(device);  // y has elements, but its windows are empty
    check_empty_conv<double, fk::filter(3, 3).pad(1)>(device);
    check_empty_conv<float, fk::filter(3, 3).pad(1).groups(3)>(device);
    check_empty_conv<float, fk::filter(3).pad(1)>(device);
    check_empty_conv<float, fk::filter(3, 3, 3).pad(1)>(device);
    check_empty_conv<float, fk::filter(1, 1, 1).pad(1)>(device);
    check_around_empty_conv(device);
    check_empty_transposed(device);
    check_empty_gemm(device);
}

TEST_CASE("empty integer sums are 0, and layers and runs without y accept empty x") {
    fk::host::Device device(2);
    using Layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Requantize>;
    auto const bias = fk::tensor<float>(device, fk::channels(2), {1, 2}),
               scale = fk::tensor<float>(device, fk::channels(2), {3, 4});
    fk::Tensor<fk::int8, fk::host::Device> const x(device, fk::nhwc(1, 1, 2, 0)), w(device, fk::krsc(2, 3, 3, 0));
    auto const y = Layer::bind({.weights = w}, {.bias = bias}, {.scale = scale})(device, x);
    fk::int8 values[4];
    y.copy_to(values);
    for (int i = 0; i < 4; ++i) CHECK(float{values[i]} == (i % 2 == 0 ? 3 : 8));

    using Stored = fk::Plan<fk::Store, Relu>;
    fk::Tensor<float, fk::host::Device> const none(device, fk::nchw(0, 3, 4, 5));
    fk::Tensor<float, fk::host::Device> stored(device, none.layout());
    auto const layer = Stored::bind({.values = stored}, {});
    fk::Layer<float, fk::host::Device> const any = layer;
    CHECK(any(device, none).layout() == none.layout());
    layer(device, none, fk::no_output);
    layer.prepare(device, none, fk::no_output)(device, none, fk::no_output);
}

TEST_CASE("weight and bias gradients over no pixels are 0") {
    fk::host::Device device(2);
    check_empty_weight_gradient<fk::filter(3, 3).pad(1)>(device);
    check_empty_weight_gradient<fk::filter(3, 2).stride(2).groups(2)>(device);
    check_empty_weight_gradient<fk::filter(1, 3, 3).pad(0, 1, 1)>(device);
}

TEST_CASE("pointwise plans, pools, statistics and gradients of no elements") {
    fk::host::Device device(2);
    check_empty_pointwise(device);
    check_empty_pools(device);
    check_empty_rows_and_resampling(device);
    check_empty_statistics(device);
    check_empty_gradients(device);
}
