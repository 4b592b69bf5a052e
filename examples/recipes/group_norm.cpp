// SPDX-License-Identifier: MIT
//
// Group norm: batch norm of a view in which every group of every image is a channel. A second plan scales and shifts
// the channels, and applies the activation. With one channel a group it is instance norm; with one group, layer norm.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

using Normalize = fk::Plan<fk::BatchNormTraining<fk::Spatial>>;
using ScaleAndShift = fk::Plan<fk::BatchNormInference<fk::Spatial>, fk::Activation<fk::Relu>>;

int main() {
    fk::host::Device device;
    constexpr int n = 2, c = 12, h = 5, w = 6, groups = 3;
    auto x = fk::random<float>(device, fk::nchw(n, c, h, w), 1);
    auto scale = fk::random<float>(device, fk::channels(c), 2), shift = fk::random<float>(device, fk::channels(c), 3);
    fk::Tensor<float, decltype(device)> y(device, x.layout());
    auto ones = filled(device, c, 1), zeros = filled(device, c, 0);
    static_assert(n * groups <= c);

    auto group_ones = fk::sliced(ones, 0, 0, n * groups), group_zeros = fk::sliced(zeros, 0, 0, n * groups);
    Normalize::bind({.scale = group_ones, .shift = group_zeros})(
        device, fk::reshaped(x, 1, n * groups, c / groups * h, w), fk::reshaped(y, 1, n * groups, c / groups * h, w));
    auto result = ScaleAndShift::bind({.mean = zeros, .variance = ones, .scale = scale, .shift = shift, .epsilon = 0},
                                      {})(device, y);

    Array const in(x), out(result);
    auto const factor = values(scale), term = values(shift);
    Array expected = out.like();
    constexpr int size = c / groups * h * w;
    expected.fill([&](Extent i, Extent k, Extent p, Extent q) {
        double const* const group = &in.at[std::size_t((i * groups + k / (c / groups)) * size)];
        double mean = 0, variance = 0;
        for (int j = 0; j < size; ++j) mean += group[j] / size;
        for (int j = 0; j < size; ++j) variance += (group[j] - mean) * (group[j] - mean) / size;
        double const normal = (in(i, k, p, q) - mean) / std::sqrt(variance + 1e-5);
        return std::max(0.0, factor[std::size_t(k)] * normal + term[std::size_t(k)]);
    });
    return agrees("group norm", out, expected) ? 0 : 1;
}
