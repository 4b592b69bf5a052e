// SPDX-License-Identifier: MIT
//
// y = relu(conv3x3(x, w) + b) as a type.

#include <cstdio>
#include <fusekit/fusekit.hpp>
#include <vector>
namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Activation<fk::Relu>>;

int main() {
    std::vector<float> x(2 * 16 * 8 * 8, 1), w(16 * 16 * 3 * 3, 0.5f), b(16, -4), y(2 * 16 * 8 * 8, -1);
    fk::host::Device device;

    constexpr auto image = fk::nchw(2, 16, 8, 8);
    auto layer = Layer::bind({.weights = fk::TensorView<float const>(w.data(), fk::kcrs(16, 16, 3, 3))},
                             {.bias = fk::TensorView<float const, 1>(b.data(), fk::channels(16))}, {});
    layer(device, fk::TensorView<float const>(x.data(), image), fk::TensorView<float>(y.data(), image));

    std::printf("y[0] = %g, y[9] = %g\n", y[0], y[9]);
}
