// SPDX-License-Identifier: MIT
//
// Prepares runs of known plans on tensors of known layouts. The program prints nothing; with FUSEKIT_LOG=1 the library
// prints a line for each. FUSEKIT_TEST_DEVICE declares the device.
#include FUSEKIT_TEST_HEADER

namespace fk = fusekit;

int main() {
    using ConvBiasRelu = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Activation<fk::Relu>>;
    FUSEKIT_TEST_DEVICE;
    auto const w = fk::random<float>(device, fk::kcrs(4, 3, 3, 3));
    auto const b = fk::random<float>(device, fk::channels(4));
    auto const layer = ConvBiasRelu::bind({.weights = w}, {.bias = b}, {});
    auto const of_planes = layer.prepare<float>(device, fk::nchw(2, 3, 5, 7), fk::nchw(2, 4, 5, 7));
    auto const empty = layer.prepare<float>(device, fk::nchw(0, 3, 5, 7), fk::nchw(0, 4, 5, 7));
    auto const relu = fk::Plan<fk::Activation<fk::Relu>>::bind({});
    auto const of_halves = relu.prepare<fk::half>(device, fk::nhwc(2, 8, 5, 7), fk::nhwc(2, 8, 5, 7));
    static_cast<void>(relu.try_prepare<float>(device, fk::nchw(2, 3, 5, 7), fk::nchw(2, 3, 5, 8)));  // is refused
    return of_planes.workspace_bytes() + empty.workspace_bytes() + of_halves.workspace_bytes() > 1 << 20;
}
