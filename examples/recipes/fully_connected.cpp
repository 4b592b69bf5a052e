// SPDX-License-Identifier: MIT
//
// A fully connected layer is a product of matrices. Flattening an image is a view.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

using FullyConnected = fk::Plan<fk::Gemm, fk::Bias, fk::Activation<fk::Tanh>>;

int main() {
    fk::host::Device device;
    constexpr int m = 9, c = 4, h = 3, w = 3, n = 20;
    auto x = fk::random<float>(device, fk::nchw(m, c, h, w), 1);
    auto weights = fk::random<float>(device, fk::row_major(n, c * h * w), 2);
    auto bias = fk::random<float>(device, fk::channels(n), 3);

    auto layer = FullyConnected::bind({.weights = weights}, {.bias = bias}, {});
    auto y = layer(device, fk::reshaped(x, m, c * h * w));  // m x n

    auto const in = values(x), matrix = values(weights), shift = values(bias);
    std::vector<double> expected;
    for (std::size_t i = 0; i < m * n; ++i) {
        double sum = shift[i % n];
        for (std::size_t k = 0; k < c * h * w; ++k)
            sum += double(in[i / n * c * h * w + k]) * matrix[i % n * c * h * w + k];
        expected.push_back(std::tanh(sum));
    }
    return agrees("fully connected", values(y), expected) ? 0 : 1;
}
