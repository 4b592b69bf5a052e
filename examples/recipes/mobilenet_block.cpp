// SPDX-License-Identifier: MIT
//
// MobileNetV2's inverted residual, three plans: expand by a 1x1 convolution, filter depthwise, project by a 1x1
// convolution and add x. Batch norms are folded into weights and bias. Source: Sandler et al. 2018, section 3.3.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

using Relu6 = fk::Activation<fk::Clamp>;  // its bounds are 0 and 6 where they are left out
using Expand = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias, Relu6>;
template <int Channels>
using Depthwise = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1).groups(Channels)>, fk::Bias, Relu6>;
using Project = fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias, fk::Residual>;

int main() {
    fk::host::Device device;
    constexpr int n = 2, c = 6, wide = 4 * c, h = 7, w = 5;
    auto x = fk::random<float>(device, fk::nhwc(n, h, w, c), 1);
    auto w1 = fk::random<float>(device, fk::krsc(wide, 1, 1, c), 2),
         w2 = fk::random<float>(device, fk::krsc(wide, 3, 3, 1), 3),
         w3 = fk::random<float>(device, fk::krsc(c, 1, 1, wide), 4);
    auto b1 = fk::random<float>(device, fk::channels(wide), 5), b2 = fk::random<float>(device, fk::channels(wide), 6),
         b3 = fk::random<float>(device, fk::channels(c), 7);

    auto expanded = Expand::bind({.weights = w1}, {.bias = b1}, {})(device, x);
    auto filtered = Depthwise<wide>::bind({.weights = w2}, {.bias = b2}, {})(device, expanded);
    auto y = Project::bind({.weights = w3}, {.bias = b3}, {.z = x})(device, filtered);

    auto const relu6 = [](double v) { return std::min(std::max(v, 0.0), 6.0); };
    Array const in(x), out(y), expand(w1), filter(w2), project(w3);
    auto const bias1 = values(b1), bias2 = values(b2), bias3 = values(b3);
    Array wide_image(expanded), deep(filtered), expected = out.like();
    wide_image.fill([&](Extent i, Extent k, Extent p, Extent q) {
        return relu6(convolved(in, expand, i, k, p, q, 0) + double(bias1[std::size_t(k)]));
    });
    deep.fill([&](Extent i, Extent k, Extent p, Extent q) {
        double sum = double(bias2[std::size_t(k)]);
        for (Extent r = 0; r < 3; ++r)
            for (Extent s = 0; s < 3; ++s) {
                Extent const row = p + r - 1, column = q + s - 1;
                if (row >= 0 && row < h && column >= 0 && column < w)
                    sum += wide_image(i, k, row, column) * filter(k, 0, r, s);
            }
        return relu6(sum);
    });
    expected.fill([&](Extent i, Extent k, Extent p, Extent q) {
        return convolved(deep, project, i, k, p, q, 0) + double(bias3[std::size_t(k)]) + in(i, k, p, q);
    });
    return agrees("inverted residual", out, expected) ? 0 : 1;
}
