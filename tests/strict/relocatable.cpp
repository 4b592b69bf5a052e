// SPDX-License-Identifier: MIT
//
// A half convolution as relocatable device code: a call in the kernel would serialize its wgmma.
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, fk::Activation<fk::Relu>>;

void run(fk::hip::Device& device, fk::TensorView<fk::half const, 4> x, fk::TensorView<fk::half const, 4> w,
         fk::TensorView<float const, 1> b, fk::TensorView<fk::half, 4> y) {
    Layer::bind({.weights = w}, {.bias = b}, {})(device, x, y);
}
