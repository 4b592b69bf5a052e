// expect: operators before a Conv or Gemm are applied to every value that it reads, so they are functions of the value and its channel alone: put others into a Plan before it
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;

void run(fk::TensorView<float const> x, fk::TensorView<float> y, fk::TensorView<float const> w,
         fk::TensorView<float const, 1> b) {
    fk::hip::Device device;
#ifdef CORRECTED
    using Layer = fk::Plan<fk::Bias, Conv>;
    auto const layer = Layer::bind({.bias = b}, {.weights = w});
#else
    using Layer = fk::Plan<fk::Residual, Conv>;
    auto const layer = Layer::bind({.z = x}, {.weights = w});
#endif
    layer(device, x, y);
}
