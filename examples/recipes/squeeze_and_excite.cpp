// SPDX-License-Identifier: MIT
//
// Squeeze-and-excite, y = x * logistic(W2 silu(W1 mean(x) + b1) + b2), with one gate per image and channel: three small
// plans compute the gates, and one multiplies. Source: Hu et al. 2018, section 3.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

using Squeeze = fk::Plan<fk::GlobalAverage>;
using Reduce = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias, fk::Activation<fk::Silu>>;
using Expand = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias, fk::Activation<fk::Logistic>>;
using Excite = fk::Plan<fk::Multiply>;

int main() {
    fk::host::Device device;
    constexpr int n = 3, c = 16, few = 4, h = 7, w = 5;
    auto x = fk::random<float>(device, fk::nhwc(n, h, w, c), 1);
    auto w1 = fk::random<float>(device, fk::kcrs(few, c, 1, 1), 2),
         w2 = fk::random<float>(device, fk::kcrs(c, few, 1, 1), 3);
    auto b1 = fk::random<float>(device, fk::channels(few), 4), b2 = fk::random<float>(device, fk::channels(c), 5);

    auto mean = Squeeze::bind({})(device, x);  // N x C x 1 x 1
    auto hidden = Reduce::bind({.weights = w1}, {.bias = b1}, {})(device, mean);
    auto gate = Expand::bind({.weights = w2}, {.bias = b2}, {})(device, hidden);
    auto y = Excite::bind({.z = fk::broadcast(gate, n, c, h, w)})(device, x);

    Array const in(x), left(w1), right(w2), out(y);
    auto const bias1 = values(b1), bias2 = values(b2);
    Array expected = out.like();
    expected.fill([&](Extent i, Extent k, Extent p, Extent q) {
        double sum = double(bias2[std::size_t(k)]);
        for (Extent f = 0; f < few; ++f) {
            double inner = double(bias1[std::size_t(f)]);
            for (Extent j = 0; j < c; ++j)
                for (Extent row = 0; row < h; ++row)
                    for (Extent column = 0; column < w; ++column)
                        inner += left(f, j, 0, 0) * in(i, j, row, column) / (h * w);
            sum += right(k, f, 0, 0) * inner / (1 + std::exp(-inner));
        }
        return in(i, k, p, q) / (1 + std::exp(-sum));
    });
    return agrees("squeeze-and-excite", out, expected) ? 0 : 1;
}
