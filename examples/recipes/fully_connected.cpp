// SPDX-License-Identifier: MIT
//
// A fully connected layer is a 1 x 1 convolution of images of one pixel. Flattening an image is a view, too.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

using FullyConnected = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias, fk::Activation<fk::Tanh>>;

int main() {
    fk::host::Device device;
    constexpr int n = 9, c = 4, h = 3, w = 3, k = 20;
    auto x = fk::random<float>(device, fk::nchw(n, c, h, w), 1);
    auto weights = fk::random<float>(device, fk::kcrs(k, c * h * w, 1, 1), 2);  // K x (C H W)
    auto bias = fk::random<float>(device, fk::channels(k), 3);

    auto layer = FullyConnected::bind({.weights = weights}, {.bias = bias}, {});
    auto y = layer(device, fk::reshaped(x, n, c * h * w, 1, 1));  // n x k x 1 x 1

    auto const in = values(x), matrix = values(weights), shift = values(bias);
    Array const out(y);
    Array expected = out.like();
    expected.fill([&](Extent i, Extent j, Extent, Extent) {
        double sum = shift[std::size_t(j)];
        for (Extent l = 0; l < c * h * w; ++l)
            sum += double(in[std::size_t(i * c * h * w + l)]) * matrix[std::size_t(j * c * h * w + l)];
        return std::tanh(sum);
    });
    return agrees("fully connected", out, expected) ? 0 : 1;
}
