// SPDX-License-Identifier: MIT
//
// int8 weights with half activations: half the memory of half weights; the operator after the product multiplies each
// channel by its weights' scale.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

using Layer = fk::Plan<fk::GemmWith<fk::Weights<fk::int8>>, fk::Requantize, fk::Bias, fk::Activation<fk::Relu>>;

int main() {
    fk::host::Device device;
    constexpr int m = 9, k = 40, n = 21;
    auto x = fk::random<fk::half>(device, fk::row_major(m, k), 1);
    auto weights = fk::random<float>(device, fk::row_major(n, k), 2);
    auto bias = fk::random<float>(device, fk::channels(n), 3);

    // The largest magnitude of each channel becomes 127.
    auto const given = values(weights);
    std::vector<float> largest(n);
    for (std::size_t i = 0; i < n * k; ++i) largest[i / k] = std::max(largest[i / k], std::abs(given[i]));
    std::vector<fk::int8> rounded;
    for (std::size_t i = 0; i < n * k; ++i) rounded.emplace_back(given[i] * 127 / largest[i / k]);
    for (float& scale : largest) scale /= 127;

    fk::Tensor<fk::int8, decltype(device), 2> quantized(device, weights.layout());
    fk::Tensor<float, decltype(device), 1> scale(device, fk::channels(n));
    quantized.copy_from(rounded.data()), scale.copy_from(largest.data());
    auto layer = Layer::bind({.weights = quantized}, {.scale = scale}, {.bias = bias}, {});
    auto y = layer.as<float>(device, x);

    auto const shift = values(bias);
    std::vector<fk::half> in(m * k);
    x.copy_to(in.data());
    std::vector<double> expected;
    for (std::size_t i = 0; i < m * n; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < k; ++j)
            sum += double{float{in[i / n * k + j]}} * double{float{rounded[i % n * k + j]}} * largest[i % n];
        expected.push_back(std::max(sum + shift[i % n], 0.0));
    }
    return agrees("weight-only int8", values(y), expected) ? 0 : 1;
}
