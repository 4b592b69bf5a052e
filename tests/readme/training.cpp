// SPDX-License-Identifier: MIT
// The block of docs/training.md, as a program: the loss falls.
#include <cstdio>
#include <fusekit/fusekit.hpp>
#include <vector>
namespace fk = fusekit;

int main() {
    fk::host::Device device;
    auto const layout = fk::nhwc(4, 5, 7, 8);
    auto x = fk::random<float>(device, layout), y = fk::random<float>(device, layout, 2);
    auto dy = fk::random<float>(device, layout, 3), dx = fk::random<float>(device, layout, 4);
    auto per_channel = [&](float value) {
        fk::Tensor<float, fk::host::Device, 1> result(device, fk::channels(8));
        result.copy_from(std::vector<float>(8, value).data());
        return result;
    };
    auto scale = per_channel(1), shift = per_channel(0.25f), mean = per_channel(0), deviation = per_channel(0);
    auto running_mean = per_channel(0), running_variance = per_channel(1);
    auto scale_gradient = per_channel(0), shift_gradient = per_channel(0);

    using Layer = fk::Plan<fk::BatchNormTraining<fk::Spatial>, fk::Activation<fk::Relu>>;
    auto layer = Layer::bind({.scale = scale,
                              .shift = shift,
                              .saved_mean = mean,
                              .saved_inverse_deviation = deviation,
                              .running_mean = running_mean,
                              .running_variance = running_variance},
                             {});
    layer(device, x, y);

    auto gradient = fk::Backward<Layer>::bind(layer, x, {.scale = scale_gradient, .shift = shift_gradient}, {});
    gradient(device, dy, dx);

    // The gradient of shift is the sum of dy where y is positive.
    double expected = 0;
    for (fk::Extent i = 0; i < layout.size(); i += 8) expected += y.data()[i] > 0 ? double(dy.data()[i]) : 0.0;
    double const given = double(shift_gradient.data()[0]);
    std::printf("the gradient of shift[0] is %.4f, expected %.4f\n", given, expected);
    return given - expected < 1e-4 && expected - given < 1e-4 && expected != 0 ? 0 : 1;
}
