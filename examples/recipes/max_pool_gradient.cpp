// SPDX-License-Identifier: MIT
//
// A max pool of a training step: the forward run writes where each maximum is, in one byte, and the gradient reads
// these bytes instead of x.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

int main() {
    fk::host::Device device;
    constexpr int n = 2, c = 12, h = 7, w = 9, p = 4, q = 5;
    auto x = fk::random<float>(device, fk::nhwc(n, h, w, c), 1),
         dy = fk::random<float>(device, fk::nhwc(n, p, q, c), 2);
    fk::Tensor<fk::int8, decltype(device)> taps(device, fk::nhwc(n, p, q, c));
    fk::Tensor<float, decltype(device)> dx(device, fk::nhwc(n, h, w, c));

    constexpr auto window = fk::filter(3, 3).stride(2).pad(1);
    auto y = fk::Plan<fk::Pool<fk::MaxWithTaps, window>>::bind({.taps = taps})(device, x);
    fk::Plan<fk::PoolGradient<fk::MaxWithTaps, window>>::bind({.taps = taps})(device, dy, dx);

    Array const in(x), of_y(dy), out(dx);
    Array expected = out.like();
    expected.fill([&](Extent i, Extent k, Extent row, Extent column) {
        double sum = 0;
        for (Extent a = 0; a < p; ++a)
            for (Extent b = 0; b < q; ++b) {
                double most = -1e30;
                bool here = false;
                for (Extent r = 2 * a - 1; r <= 2 * a + 1; ++r)
                    for (Extent s = 2 * b - 1; s <= 2 * b + 1; ++s)
                        if (r >= 0 && r < h && s >= 0 && s < w && in(i, k, r, s) > most)
                            most = in(i, k, r, s), here = r == row && s == column;
                if (here) sum += of_y(i, k, a, b);
            }
        return sum;
    });
    return agrees("max pool gradient", out, expected) ? 0 : 1;
}
