// SPDX-License-Identifier: MIT
//
// A layer in an application that has its own device memory and its own stream: fusekit uses both directly.

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fusekit/hip.hpp>
#include <vector>
namespace fk = fusekit;

using ConvBiasRelu = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Activation<fk::Relu>>;

void check(hipError_t status) {
    if (status == hipSuccess) return;
    std::fprintf(stderr, "%s\n", hipGetErrorString(status));
    std::exit(1);
}

/// Elements on the GPU, all of one value.
float* device_memory(std::int64_t size, float value) {
    std::vector<float> const values(size, value);
    void* memory = nullptr;
    check(hipMalloc(&memory, size * sizeof(float)));
    check(hipMemcpy(memory, values.data(), size * sizeof(float), hipMemcpyHostToDevice));
    return static_cast<float*>(memory);
}

int main() try {
    constexpr auto image = fk::nchw(8, 64, 56, 56), filters = fk::kcrs(64, 64, 3, 3);
    constexpr auto per_channel = fk::channels(64);
    float* x = device_memory(image.size(), 1);
    float* y = device_memory(image.size(), -1);
    float* weights = device_memory(filters.size(), 0.5f);
    float* bias = device_memory(per_channel.size(), -8);
    hipStream_t stream;
    check(hipStreamCreate(&stream));

    fk::hip::Device device(0, stream);  // borrows the stream; create it once: it queries the GPU
    auto layer = ConvBiasRelu::bind({.weights = fk::TensorView<float const>(weights, filters)},
                                    {.bias = fk::TensorView<float const, 1>(bias, per_channel)}, {});
    layer(device, fk::TensorView<float const>(x, image), fk::TensorView<float>(y, image));  // returns at once

    std::vector<float> result(image.size());
    check(hipMemcpyAsync(result.data(), y, result.size() * sizeof(float), hipMemcpyDeviceToHost, stream));
    check(hipStreamSynchronize(stream));
    // 4 of the 9 taps of a corner are inside the image: 4 x 64 / 2 - 8.
    std::printf("y[0] = %g, %s\n", result[0], result[0] == 120 ? "ok" : "WRONG");

    for (float* memory : {x, y, weights, bias}) check(hipFree(memory));
    check(hipStreamDestroy(stream));
    return result[0] == 120 ? 0 : 1;
} catch (fk::Error const& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
