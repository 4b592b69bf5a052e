// SPDX-License-Identifier: MIT
// Tensors without elements on a GPU: no kernel is launched, or a kernel writes sums of no products.
#include <catch2/catch_test_macros.hpp>

#include "backend/hip/gpu.hpp"
#include "support/empty_pointwise.hpp"
#include "support/empty_tensors.hpp"

using namespace test;
using namespace fusekit::hip;  // HIP's names are here on some platforms

TEST_CASE("HIP: an empty convolution writes nothing, or its epilogue of zero sums") {
    fk::hip::Device device = gpu();
    check_empty_conv<float, fk::filter(3, 3).pad(1)>(device);
    check_empty_conv<fk::half, fk::filter(1, 1).pad(1).stride(2)>(device);  // y has elements, but its windows have none
    check_empty_conv<float, fk::filter(1, 1, 1).pad(1).groups(2)>(device);
    check_around_empty_conv(device);
    check_empty_transposed(device);
    check_empty_gemm(device);
}

TEST_CASE("HIP: weight and bias gradients over no pixels are 0") {
    fk::hip::Device device = gpu();
    check_empty_weight_gradient<fk::filter(3, 2).stride(2).groups(2)>(device);
    check_empty_weight_gradient<fk::filter(1, 3, 3).pad(0, 1, 1)>(device);
}

TEST_CASE("HIP: pointwise plans, pools, statistics and gradients of no elements") {
    fk::hip::Device device = gpu();
    check_empty_pointwise(device);
    check_empty_pools(device);
    check_empty_statistics(device);
    check_empty_gradients(device);
}

TEST_CASE("HIP: runs of no elements are predicted, and captured into a graph") {
    fk::hip::Device device = gpu();
    using Layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, Relu>;
    auto const bias = fk::tensor<float>(device, fk::channels(3), {1, 2, 3});
    Floats const none(device, fk::kcrs(3, 0, 3, 3)), two(device, fk::kcrs(3, 2, 3, 3));
    Floats const no_channels(device, fk::nchw(1, 0, 2, 2)), no_images(device, fk::nchw(0, 2, 2, 2));
    auto y = fk::tensor<float>(device, fk::nchw(1, 3, 2, 2), {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9});
    Floats empty(device, fk::nchw(0, 3, 2, 2));
    auto const of_bias = Layer::bind({.weights = none}, {.bias = bias}, {}),
               of_nothing = Layer::bind({.weights = two}, {.bias = bias}, {});
    CHECK(of_nothing.predict<float>(device, no_images.layout(), empty.layout()).seconds == 0);
    CHECK(of_bias.predict<float>(device, no_channels.layout(), y.layout()).seconds > 0);
    auto const launch =
        device.prepare(of_nothing, Layer::collapse(no_images.const_view()), Layer::collapse(empty.view()));
    CHECK(launch.value().blocks == 0);
    CHECK(launch.value().workspace_bytes == 0);

    auto const scheduled = device.with<fk::hip::Gemm<64, 64, 8>>();
    of_nothing(scheduled, no_images, empty);
    CHECK(refusal([&] { of_bias(scheduled, no_channels, y); }) ==
          "Plan<Conv<filter(3, 3).pad(1)>, Bias, Activation<Relu>>: x.shape: expected at least one element, or the "
          "library's choice of a schedule, got 1 x 0 x 2 x 2");

    auto const stream = fk::hip::Stream::non_blocking(device);
    hipGraph_t graph = nullptr;
    hipGraphExec_t replay = nullptr;
    REQUIRE(hipStreamBeginCapture(stream.stream(), hipStreamCaptureModeThreadLocal) == hipSuccess);
    of_nothing(stream, no_images, empty);
    of_bias(stream, no_channels, y);
    REQUIRE(hipStreamEndCapture(stream.stream(), &graph) == hipSuccess);
    REQUIRE(hipGraphInstantiate(&replay, graph, nullptr, nullptr, 0) == hipSuccess);
    REQUIRE(hipGraphLaunch(replay, stream.stream()) == hipSuccess);
    stream.synchronize();
    CHECK(hipGraphExecDestroy(replay) == hipSuccess);
    CHECK(hipGraphDestroy(graph) == hipSuccess);
    CHECK(numbers(y) == std::vector<float>{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3});
    CHECK(works(device));
}
