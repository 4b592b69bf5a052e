// SPDX-License-Identifier: MIT
//
// A decoder's block, as in U-Net: a transposed convolution doubles the image and writes its channels beside those of
// the encoder, and a convolution reads both. Source: Ronneberger et al. 2015, section 2.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

using Up = fk::Plan<fk::TransposedConv<fk::filter(2, 2).stride(2)>, fk::Bias>;
using Merge = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Activation<fk::Relu>>;

int main() {
    fk::host::Device device;
    constexpr int n = 2, c = 6, k = 4, h = 3, w = 5;
    auto x = fk::random<float>(device, fk::nhwc(n, h, w, c), 1);
    auto up = fk::random<float>(device, fk::kcrs(c, k, 2, 2), 2);  // C x K x R x S, as in PyTorch
    auto merge = fk::random<float>(device, fk::krsc(k, 3, 3, 2 * k), 3);
    auto b1 = fk::random<float>(device, fk::channels(k), 4), b2 = fk::random<float>(device, fk::channels(k), 5);

    // The encoder has written its k channels to the first half of `both`.
    auto both = fk::random<float>(device, fk::nhwc(n, 2 * h, 2 * w, 2 * k), 6);
    Array const encoder(both);
    Up::bind({.weights = up}, {.bias = b1})(device, x, fk::sliced(both, 1, k, k));
    auto y = Merge::bind({.weights = merge}, {.bias = b2}, {})(device, both);

    Array const in(x), taps(up), filter(merge), out(y);
    auto const bias1 = values(b1), bias2 = values(b2);
    Array joined = encoder, expected = out.like();
    joined.fill([&](Extent i, Extent j, Extent p, Extent q) {
        if (j < k) return encoder(i, j, p, q);
        double sum = double(bias1[std::size_t(j - k)]);
        for (Extent from = 0; from < c; ++from) sum += in(i, from, p / 2, q / 2) * taps(from, j - k, p % 2, q % 2);
        return sum;
    });
    expected.fill([&](Extent i, Extent j, Extent p, Extent q) {
        return std::max(convolved(joined, filter, i, j, p, q, 1) + double(bias2[std::size_t(j)]), 0.0);
    });
    return agrees("decoder's block", out, expected) ? 0 : 1;
}
