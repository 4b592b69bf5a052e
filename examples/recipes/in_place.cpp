// SPDX-License-Identifier: MIT
//
// y = convolution(x) + beta y, and then y = relu(y): no tensor but x, the weights and y.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

int main() {
    fk::host::Device device;
    constexpr int n = 2, c = 8, k = 12, h = 7, w = 5;
    constexpr float beta = 0.5f;
    auto x = fk::random<float>(device, fk::nhwc(n, h, w, c), 1);
    auto weights = fk::random<float>(device, fk::kcrs(k, c, 3, 3), 2);
    auto y = fk::random<float>(device, fk::nhwc(n, h, w, k), 3);
    Array const in(x), filter(weights), before(y);

    using Accumulate = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Residual>;
    Accumulate::bind({.weights = weights}, {.z = y, .alpha2 = beta})(device, x, y);
    fk::Plan<fk::Activation<fk::Relu>>::bind({})(device, y, y);

    Array const out(y);
    Array expected = out.like();
    expected.fill([&](Extent i, Extent j, Extent p, Extent q) {
        return std::max(convolved(in, filter, i, j, p, q, 1) + double(beta) * before(i, j, p, q), 0.0);
    });
    return agrees("a convolution added to y, in place", out, expected) ? 0 : 1;
}
