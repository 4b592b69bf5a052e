// SPDX-License-Identifier: MIT
//
// Concatenation along channels without a copy: two layers write into slices of one tensor.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

using Branch1x1 = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Activation<fk::Relu>>;
using Branch3x3 = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Activation<fk::Relu>>;

int main() {
    fk::host::Device device;
    auto x = fk::random<float>(device, fk::nhwc(2, 6, 5, 8), 1);
    auto w1 = fk::random<float>(device, fk::krsc(12, 1, 1, 8), 2);
    auto w3 = fk::random<float>(device, fk::krsc(20, 3, 3, 8), 3);

    fk::Tensor<float, decltype(device)> y(device, fk::nhwc(2, 6, 5, 12 + 20));
    Branch1x1::bind({.weights = w1}, {})(device, x, fk::sliced(y, 1, 0, 12));
    Branch3x3::bind({.weights = w3}, {})(device, x, fk::sliced(y, 1, 12, 20));

    Array const in(x), small(w1), large(w3), out(y);
    Array expected = out.like();
    expected.fill([&](Extent n, Extent k, Extent p, Extent q) {
        return std::max(0.0, k < 12 ? convolved(in, small, n, k, p, q, 0) : convolved(in, large, n, k - 12, p, q, 1));
    });
    return agrees("concatenation", out, expected) ? 0 : 1;
}
