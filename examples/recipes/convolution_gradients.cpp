// SPDX-License-Identifier: MIT
//
// The gradients of a convolution. With respect to x it is the transposed convolution of dy; with respect to the
// weights, and to a bias, it is an operator of its own.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

int main() {
    fk::host::Device device;
    constexpr int n = 4, c = 6, k = 10, h = 9, w = 8, r = 3, pad = 1;
    auto x = fk::random<float>(device, fk::nchw(n, c, h, w), 1);
    auto weights = fk::random<float>(device, fk::kcrs(k, c, r, r), 2);
    auto dy = fk::random<float>(device, fk::nchw(n, k, h, w), 3);

    // dx[n,c,h,w] = sum of dy[n,k,p,q] * weights[k,c,r,s] over k, r, s, where p + r - pad = h and q + s - pad = w
    fk::Tensor<float, decltype(device)> dx(device, x.layout());
    using ByInput = fk::Plan<fk::TransposedConv<fk::filter(r, r).pad(pad)>>;
    ByInput::bind({.weights = weights})(device, dy, dx);

    fk::Tensor<float, decltype(device), 1> dbias(device, fk::channels(k));
    // dweights[k,c,r,s] = sum of dy[n,k,p,q] * x[n,c,p + r - pad,q + s - pad] over n, p, q
    using ByWeights = fk::Plan<fk::ConvWeightGradient<fk::filter(r, r).pad(pad)>>;
    auto dweights = ByWeights::bind({.dy = dy, .bias_gradient = dbias})(device, x);

    Array const in(x), filter(weights), out(dy);
    Array by_input = in.like(), by_weights = filter.like();
    for (Extent i = 0; i < n; ++i)
        for (Extent j = 0; j < k; ++j)
            for (Extent p = 0; p < h; ++p)
                for (Extent q = 0; q < w; ++q)
                    for (Extent l = 0; l < c; ++l)
                        for (Extent a = 0; a < r; ++a)
                            for (Extent b = 0; b < r; ++b) {
                                Extent const row = p + a - pad, column = q + b - pad;
                                if (row < 0 || row >= h || column < 0 || column >= w) continue;
                                by_input(i, l, row, column) += out(i, j, p, q) * filter(j, l, a, b);
                                by_weights(j, l, a, b) += out(i, j, p, q) * in(i, l, row, column);
                            }
    bool const good = agrees("by x", Array(dx), by_input);
    return agrees("by the weights", Array(dweights), by_weights) && good ? 0 : 1;
}
