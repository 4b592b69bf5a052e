// SPDX-License-Identifier: MIT
//
// A block of an image decoder for diffusion: x + conv(silu(norm(conv(silu(norm(x)))))), one kernel for each
// convolution. The kernel that writes a tensor also writes its channels' statistics; the next one normalizes what it
// reads.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

using Silu = fk::Activation<fk::Silu>;
using Three = fk::Conv<fk::filter(3, 3).pad(1)>;
using First = fk::Plan<fk::GroupNormFromStatistics, Silu, Three, fk::Bias, fk::ChannelStatistics>;
using Second = fk::Plan<fk::GroupNormFromStatistics, Silu, Three, fk::Bias, fk::Residual, fk::ChannelStatistics>;

int main() {
    fk::host::Device device;
    constexpr int c = 8, h = 5, w = 6, groups = 4;
    auto x = fk::random<float>(device, fk::nhwc(1, h, w, c), 1);
    auto w1 = fk::random<float>(device, fk::krsc(c, 3, 3, c), 2), w2 = fk::random<float>(device, w1.layout(), 3);
    auto scale = fk::random<float>(device, fk::channels(c), 4), shift = fk::random<float>(device, scale.layout(), 5),
         bias = fk::random<float>(device, scale.layout(), 6);
    auto mean = filled(device, c, 0), variance = filled(device, c, 0), mean2 = filled(device, c, 0),
         variance2 = filled(device, c, 0);
    auto scratch = filled(device, int(fk::ChannelStatistics::scratch(x.layout().shape)), 0);
    // In a decoder the layer before the block writes the statistics of x.
    fk::Tensor<float, fk::host::Device> copy(device, x.layout());
    fk::Plan<fk::ChannelStatistics>::bind({.mean = mean, .variance = variance})(device, x, copy);

    // mean, variance: of x; mean2, variance2: of the first convolution; then those of y, for the next block.
    auto first = First::bind({mean, variance, scale, shift, groups}, {}, {.weights = w1}, {.bias = bias},
                             {.mean = mean2, .variance = variance2, .scratch = scratch});
    auto second = Second::bind({mean2, variance2, scale, shift, groups}, {}, {.weights = w2}, {.bias = bias}, {.z = x},
                               {.mean = mean, .variance = variance, .scratch = scratch});
    auto y = second(device, first(device, x));

    auto const factor = values(scale), term = values(shift), of_k = values(bias);
    auto const normalized = [&](Array const& in) {
        Array result = in.like();
        result.fill([&](Extent, Extent k, Extent p, Extent q) {
            double const* const group = &in.at[std::size_t(k / (c / groups) * (c / groups) * h * w)];
            double m = 0, v = 0;
            constexpr int size = c / groups * h * w;
            for (int j = 0; j < size; ++j) m += group[j] / size;
            for (int j = 0; j < size; ++j) v += (group[j] - m) * (group[j] - m) / size;
            double const value =
                factor[std::size_t(k)] * (in(0, k, p, q) - m) / std::sqrt(v + 1e-5) + term[std::size_t(k)];
            return value / (1 + std::exp(-value));
        });
        return result;
    };
    auto const layer = [&](Array const& in, Array const& weights) {
        Array const normal = normalized(in);
        Array result = in.like();
        result.fill([&](Extent n, Extent k, Extent p, Extent q) {
            return convolved(normal, weights, n, k, p, q, 1) + double(of_k[std::size_t(k)]);
        });
        return result;
    };
    Array const in(x), out(y);
    Array expected = layer(layer(in, Array(w1)), Array(w2));
    for (std::size_t i = 0; i < expected.at.size(); ++i) expected.at[i] += in.at[i];
    return agrees("a diffusion decoder's block", out, expected) ? 0 : 1;
}
