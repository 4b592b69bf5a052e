// SPDX-License-Identifier: MIT
//
// A transposed convolution of stride 2 with bias and ReLU, which doubles the image: as one plan, and in four parts,
// each a convolution of x with every second row and column of the weights, that write every second row and column of y.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

/// Rows and columns of y at p = 2i + Row, q = 2j + Column, for a 4 x 4 filter with padding 1.
template <int Row, int Column>
using Part =
    fk::Plan<fk::Conv<fk::filter(2, 2).pad(1 - Row, 1 - Column, Row, Column)>, fk::Bias, fk::Activation<fk::Relu>>;

template <int Row, int Column>
void run_part(auto& device, auto const& x, auto const& weights, auto const& bias, auto& y) {
    auto const [n, c, h, w] = x.layout().shape.values;
    // Weights are C x K x R x S, as in PyTorch. Taps of the part, last first, because transposing flips them.
    auto taps = fk::sliced(fk::sliced(fk::transposed(weights, 0, 1), 2, 1 - Row, 2, 2), 3, 1 - Column, 2, 2);
    auto part = fk::sliced(fk::sliced(y, 2, Row, h, 2), 3, Column, w, 2);
    Part<Row, Column>::bind({.weights = fk::flipped(fk::flipped(taps, 2), 3)}, {.bias = bias}, {})(device, x, part);
}

int main() {
    fk::host::Device device;
    constexpr int n = 2, c = 8, k = 6, h = 5, w = 7;
    auto x = fk::random<float>(device, fk::nchw(n, c, h, w), 1);
    auto weights = fk::random<float>(device, fk::kcrs(c, k, 4, 4), 2);
    auto bias = fk::random<float>(device, fk::channels(k), 3);

    using Layer = fk::Plan<fk::TransposedConv<fk::filter(4, 4).pad(1).stride(2)>, fk::Bias, fk::Activation<fk::Relu>>;
    auto y = Layer::bind({.weights = weights}, {.bias = bias}, {})(device, x);

    fk::Tensor<float, decltype(device)> in_parts(device, fk::nchw(n, k, 2 * h, 2 * w));
    run_part<0, 0>(device, x, weights, bias, in_parts);
    run_part<0, 1>(device, x, weights, bias, in_parts);
    run_part<1, 0>(device, x, weights, bias, in_parts);
    run_part<1, 1>(device, x, weights, bias, in_parts);

    Array const in(x), filter(weights), out(y);
    auto const shift = values(bias);
    Array expected = out.like();
    expected.fill([&](Extent, Extent j, Extent, Extent) { return double(shift[std::size_t(j)]); });
    for (Extent i = 0; i < n; ++i)
        for (Extent l = 0; l < c; ++l)
            for (Extent row = 0; row < h; ++row)
                for (Extent column = 0; column < w; ++column)
                    for (Extent j = 0; j < k; ++j)
                        for (Extent r = 0; r < 4; ++r)
                            for (Extent s = 0; s < 4; ++s) {
                                Extent const p = 2 * row + r - 1, q = 2 * column + s - 1;
                                if (p < 0 || p >= 2 * h || q < 0 || q >= 2 * w) continue;
                                expected(i, j, p, q) += in(i, l, row, column) * filter(l, j, r, s);
                            }
    for (double& value : expected.at) value = std::max(value, 0.0);
    bool const whole = agrees("transposed convolution", out, expected);
    return agrees("in four parts", Array(in_parts), expected) && whole ? 0 : 1;
}
