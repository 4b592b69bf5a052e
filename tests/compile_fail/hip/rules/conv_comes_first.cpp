// expect: Conv produces the accumulator, so it must be the first operator of a Plan: end this Plan before it, and begin the next with it
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;

void run(fk::TensorView<float const> x, fk::TensorView<float> y, fk::TensorView<float const> w,
         fk::TensorView<float const, 1> b) {
    fk::hip::Device device;
#ifdef CORRECTED
    using Layer = fk::Plan<Conv, fk::Bias>;
    auto const layer = Layer::bind({.weights = w}, {.bias = b});
#else
    using Layer = fk::Plan<fk::Bias, Conv>;
    auto const layer = Layer::bind({.bias = b}, {.weights = w});
#endif
    layer(device, x, y);
}
