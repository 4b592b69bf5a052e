// SPDX-License-Identifier: MIT
//
// A layer in 8-bit floats: x, weights and y are e4m3, each with a scale that multiplies its values. The accumulator is
// multiplied by the scales of x and of the weights' channels; the largest magnitude of the result determines y's scale
// in the next run; y is divided by its present scale, rounded and saturated.

#include <fusekit/fusekit.hpp>

#include "recipe.hpp"

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Requantize, fk::Bias, fk::Activation<fk::Relu>, fk::Amax,
                       fk::Scale>;

int main() {
    fk::host::Device device;
    constexpr int c = 8, k = 12, h = 6, w = 5;
    auto x = fk::random<fk::e4m3>(device, fk::nhwc(1, h, w, c), 1);
    auto weights = fk::random<fk::e4m3>(device, fk::krsc(k, 3, 3, c), 2);
    auto bias = fk::random<float>(device, fk::channels(k), 3);
    constexpr float of_x = 0.25f, of_y = 0.01f;
    std::vector<float> of_weights;
    for (int i = 0; i < k; ++i) of_weights.push_back(0.5f + 0.125f * static_cast<float>(i));

    fk::Tensor<float, decltype(device), 1> scale(device, fk::channels(k)), amax(device, fk::channels(1));
    std::vector<float> of_accumulator, none(1);
    for (float each : of_weights) of_accumulator.push_back(of_x * each);
    scale.copy_from(of_accumulator.data());
    amax.copy_from(none.data());  // 0: the run raises it
    auto layer =
        Layer::bind({.weights = weights}, {.scale = scale}, {.bias = bias}, {}, {.amax = amax}, {.factor = 1 / of_y});
    auto y = layer(device, x);
    float largest = 0;
    amax.copy_to(&largest);
    float const next_of_y = largest / 448;  // e4m3's largest number: what the next run divides by

    Array const in(x), filters(weights), out(y);
    auto const shift = values(bias);
    Array real = out.like();
    double expected = 0;
    real.fill([&](Extent n, Extent i, Extent p, Extent q) {
        auto const channel = std::size_t(i);
        double const sum = convolved(in, filters, n, i, p, q, 1);
        double const value = std::max(sum * of_x * of_weights[channel] + shift[channel], 0.0);
        expected = std::max(expected, value);
        return std::min(value, 448.0 * of_y);
    });
    // Half a step of e4m3 is 2^-4 of a number, or 2^-10 of the scale below the smallest normal one.
    bool near = true;
    for (std::size_t i = 0; i < real.at.size(); ++i)
        near &= std::abs(out.at[i] * of_y - real.at[i]) <= 0x1.001p-4 * real.at[i] + 0x1.01p-10 * of_y;
    std::printf("the next scale of y is %.5f\n", double{next_of_y});
    bool const same = agrees("the largest magnitude before the scale of y", {largest}, {expected});
    return report("8-bit floats, each within half a step", near) && same ? 0 : 1;
}
