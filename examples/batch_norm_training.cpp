// SPDX-License-Identifier: MIT
//
// A layer in training, batch norm and SiLU: forward with the statistics of the batch, then the gradient of a loss, in
// one kernel each; a few steps of gradient descent on the batch norm's scale and shift.

#include <fusekit/fusekit.hpp>

#include "support.hpp"

namespace fk = fusekit;

using Layer = fk::Plan<fk::BatchNormTraining<fk::Spatial>, fk::Activation<fk::Silu>>;
using Gradient = fk::Backward<Layer>;  // derived from Layer's type

constexpr int n = 8, c = 32, h = 14, w = 14, steps = 20;

/// A tensor of channels that all have the same value.
template <class Device>
auto channels(Device& device, float value) {
    fk::Tensor<float, Device, 1> result(device, fk::channels(c));
    result.copy_from(std::vector<float>(c, value).data());
    return result;
}

/// parameter -= rate * gradient
template <class Tensor>
void descend(Tensor& parameter, Tensor const& gradient, float rate) {
    auto p = values(parameter);
    auto const g = values(gradient);
    for (std::size_t k = 0; k < p.size(); ++k) p[k] -= rate * g[k];
    parameter.copy_from(p.data());
}

int main() {
    fk::host::Device device;
    auto const layout = fk::nhwc(n, h, w, c);
    auto x = fk::random<float>(device, layout);
    auto scale = channels(device, 1), shift = channels(device, 0), wanted_scale = channels(device, 0.5f),
         wanted_shift = channels(device, 0.75f);
    auto saved_mean = channels(device, 0), saved_inverse_deviation = channels(device, 0);
    auto running_mean = channels(device, 0), running_variance = channels(device, 1);
    auto scale_gradient = channels(device, 0), shift_gradient = channels(device, 0);

    // Target: the same layer with another scale and shift.
    auto const wanted = values(Layer::bind({.scale = wanted_scale, .shift = wanted_shift}, {})(device, x));

    auto layer = Layer::bind({.scale = scale,
                              .shift = shift,
                              .saved_mean = saved_mean,
                              .saved_inverse_deviation = saved_inverse_deviation,
                              .running_mean = running_mean,
                              .running_variance = running_variance},
                             {});
    auto gradient = Gradient::bind(layer, x, {.scale = scale_gradient, .shift = shift_gradient}, {});

    fk::Tensor<float, decltype(device)> y(device, layout), dy(device, layout), dx(device, layout);
    double first = 0, loss = 0;
    for (int step = 0; step < steps; ++step) {
        layer(device, x, y);  // also writes the saved and the running statistics
        auto difference = values(y);
        loss = 0;  // mean squared difference; its gradient is 2 * difference / count
        for (std::size_t i = 0; i < difference.size(); ++i) {
            difference[i] -= wanted[i];
            loss += double(difference[i]) * difference[i] / double(difference.size());
            difference[i] *= 2.0f / float(difference.size());
        }
        if (step == 0) first = loss;
        dy.copy_from(difference.data());
        gradient(device, dy, dx);
        descend(scale, scale_gradient, 20);
        descend(shift, shift_gradient, 20);
    }
    std::printf("%s\n", Layer::name().c_str());
    std::printf("  loss %.4f, after %d steps %.2g; the running mean of channel 0 is %.4f\n", first, steps, loss,
                double(values(running_mean)[0]));
    bool const good = loss < 1e-4 * first;
    std::printf("%s\n", good ? "ok" : "FAILED");
    return good ? 0 : 1;
}
