// expect: double runs on the host only: a plan on a GPU takes float, half, bfloat16, int8 or 8-bit floats
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
using T = float;
#else
using T = double;
#endif

void run(fk::TensorView<T const> x, fk::TensorView<T> y, fk::TensorView<T const, 1> b) {
    fk::hip::Device device;
    using Layer = fk::Plan<fk::Bias>;
    Layer::bind({.bias = b})(device, x, y);
}
