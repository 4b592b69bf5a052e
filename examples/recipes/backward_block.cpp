// SPDX-License-Identifier: MIT
//
// The whole backward pass of a Conv, Bias and Relu layer that follows another: three kernels.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

int main() {
    fk::host::Device device;
    constexpr int n = 3, c = 6, k = 10, h = 9, w = 8, r = 3, pad = 1;
    static constexpr auto filter = fk::filter(r, r).pad(pad);
    auto weights = fk::random<float>(device, fk::kcrs(k, c, r, r), 2),
         bias = fk::random<float>(device, fk::nchw(1, k, 1, 1), 3);
    using Relu = fk::Activation<fk::Relu>;
    // x is what the Relu of the layer before gave, as y is what this layer's gives.
    auto x = fk::Plan<Relu>::bind({})(device, fk::random<float>(device, fk::nchw(n, c, h, w), 1));
    using Layer = fk::Plan<fk::Conv<filter>, fk::Bias, Relu>;
    auto y = Layer::bind({.weights = weights}, {.bias = fk::TensorView<float const, 1>(bias.data(), fk::channels(k))},
                         {})(device, x);
    auto dy = fk::random<float>(device, y.layout(), 4);

    using Slope = fk::ActivationSlope<fk::Relu>;
    auto dz = fk::Plan<Slope>::bind({.z = y})(device, dy);
    fk::Tensor<float, decltype(device), 1> dbias(device, fk::channels(k));
    auto dweights = fk::Plan<fk::ConvWeightGradient<filter>>::bind({.dy = dz, .bias_gradient = dbias})(device, x);
    // The result is dz of the previous layer, the gradient with respect to the input of its Relu.
    auto before = fk::Plan<fk::TransposedConv<filter>, Slope>::bind({.weights = weights}, {.z = x})(device, dz);

    Array const in(x), filters(weights), shift(bias), out(dy);
    Array by_input = in.like(), by_weights = filters.like(), by_bias = shift.like();
    for (Extent i = 0; i < n; ++i)
        for (Extent j = 0; j < k; ++j)
            for (Extent p = 0; p < h; ++p)
                for (Extent q = 0; q < w; ++q) {
                    if (convolved(in, filters, i, j, p, q, pad) + shift(0, j, 0, 0) <= 0) continue;
                    by_bias(0, j, 0, 0) += out(i, j, p, q);
                    for (Extent l = 0; l < c; ++l)
                        for (Extent a = 0; a < r; ++a)
                            for (Extent b = 0; b < r; ++b) {
                                Extent const row = p + a - pad, column = q + b - pad;
                                if (row < 0 || row >= h || column < 0 || column >= w) continue;
                                by_weights(j, l, a, b) += out(i, j, p, q) * in(i, l, row, column);
                                if (in(i, l, row, column) > 0)
                                    by_input(i, l, row, column) += out(i, j, p, q) * filters(j, l, a, b);
                            }
                }
    bool const weights_agree = agrees("by the weights", Array(dweights), by_weights),
               x_agrees = agrees("by x", Array(before), by_input),
               bias_agrees = agrees("by the bias", values(dbias), by_bias.at);
    return weights_agree && x_agrees && bias_agrees ? 0 : 1;
}
