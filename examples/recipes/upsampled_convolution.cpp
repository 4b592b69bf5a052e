// SPDX-License-Identifier: MIT
//
// Nearest upsampling by 2 and a 3x3 convolution in one kernel: a TransposedConv of 4x4 taps, whose weights are sums of
// the 3x3 filters' taps. It computes 4 products per channel and output, not 9.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

using Upsampled = fk::Plan<fk::TransposedConv<fk::filter(4, 4).stride(2).pad(1)>, fk::Bias>;

int main() {
    fk::host::Device device;
    constexpr int n = 2, c = 4, k = 6, h = 3, w = 5;
    auto x = fk::random<float>(device, fk::nhwc(n, h, w, c), 1);
    auto weights = fk::random<float>(device, fk::krsc(k, 3, 3, c), 2);
    auto bias = fk::random<float>(device, fk::channels(k), 3);
    Array const filter(weights);

    // Tap r of 4 reads the row of x that tap(s) r of the 3 rows read in the upsampled image.
    auto const sum = [&](Extent to, Extent from, Extent r, Extent s) {
        constexpr bool reads[4][3] = {{0, 0, 1}, {0, 1, 1}, {1, 1, 0}, {1, 0, 0}};
        double result = 0;
        for (Extent i = 0; i < 3; ++i)
            for (Extent j = 0; j < 3; ++j)
                if (reads[r][i] && reads[s][j]) result += filter(to, from, i, j);
        return result;
    };
    fk::Tensor<float, fk::host::Device> taps(device, fk::kcrs(c, k, 4, 4));  // C x K x 4 x 4
    for (Extent from = 0; from < c; ++from)
        for (Extent to = 0; to < k; ++to)
            for (Extent r = 0; r < 4; ++r)
                for (Extent s = 0; s < 4; ++s)
                    taps.data()[taps.layout().offset({{from, to, r, s}})] = float(sum(to, from, r, s));
    auto y = Upsampled::bind({.weights = taps}, {.bias = bias})(device, x);

    Array const in(x), out(y);
    auto const of_k = values(bias);
    Array large(fk::random<float>(device, fk::nhwc(n, 2 * h, 2 * w, c), 4)), expected = out.like();
    large.fill([&](Extent i, Extent j, Extent p, Extent q) { return in(i, j, p / 2, q / 2); });
    expected.fill([&](Extent i, Extent j, Extent p, Extent q) {
        return convolved(large, filter, i, j, p, q, 1) + double(of_k[std::size_t(j)]);
    });
    return agrees("upsampling and a convolution", out, expected) ? 0 : 1;
}
