// SPDX-License-Identifier: MIT
//
// A term for each image and channel, z[n, k], added to every pixel: a view with strides of 0 repeats it.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Residual, fk::Activation<fk::Silu>>;

int main() {
    fk::host::Device device;
    constexpr int n = 3, c = 8, k = 16, h = 7, w = 5;
    auto x = fk::random<float>(device, fk::nchw(n, c, h, w), 1);
    auto weights = fk::random<float>(device, fk::kcrs(k, c, 3, 3), 2);
    auto embedding = fk::random<float>(device, fk::cw(n, k), 3);  // n x k

    auto z = fk::broadcast(fk::reshaped(embedding, n, k, 1, 1), n, k, h, w);
    auto y = Layer::bind({.weights = weights}, {.z = z}, {})(device, x);

    Array const in(x), filter(weights), out(y);
    auto const term = values(embedding);
    Array expected = out.like();
    expected.fill([&](Extent i, Extent j, Extent p, Extent q) {
        double const sum = convolved(in, filter, i, j, p, q, 1) + term[std::size_t(i * k + j)];
        return sum / (1 + std::exp(-sum));
    });
    return agrees("a term for each image and channel", out, expected) ? 0 : 1;
}
