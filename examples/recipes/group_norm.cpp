// SPDX-License-Identifier: MIT
//
// Group norm and SiLU in one kernel. With one channel a group it is instance norm; with one group, layer norm over C x
// H x W.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

int main() {
    fk::host::Device device;
    constexpr int n = 2, c = 12, h = 5, w = 6, groups = 3;
    auto x = fk::random<float>(device, fk::nhwc(n, h, w, c), 1);
    auto scale = fk::random<float>(device, fk::channels(c), 2), shift = fk::random<float>(device, fk::channels(c), 3);

    using Layer = fk::Plan<fk::GroupNorm, fk::Activation<fk::Silu>>;
    auto y = Layer::bind({.groups = groups, .scale = scale, .shift = shift}, {})(device, x);

    Array const in(x), out(y);
    auto const factor = values(scale), term = values(shift);
    Array expected = out.like();
    constexpr int size = c / groups * h * w;
    expected.fill([&](Extent i, Extent k, Extent p, Extent q) {
        double const* const group = &in.at[std::size_t((i * groups + k / (c / groups)) * size)];
        double mean = 0, variance = 0;
        for (int j = 0; j < size; ++j) mean += group[j] / size;
        for (int j = 0; j < size; ++j) variance += (group[j] - mean) * (group[j] - mean) / size;
        double const normal = (in(i, k, p, q) - mean) / std::sqrt(variance + 1e-5);
        double const value = factor[std::size_t(k)] * normal + term[std::size_t(k)];
        return value / (1 + std::exp(-value));
    });
    return agrees("group norm", out, expected) ? 0 : 1;
}
