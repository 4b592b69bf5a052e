// SPDX-License-Identifier: MIT
// A user's program for a GPU.
#include <fusekit/hip.hpp>

namespace fk = fusekit;

using Relu = fk::Plan<fk::Activation<fk::Relu>>;

void relu(fk::hip::Device& device, fk::TensorView<float const> x, fk::TensorView<float> y) {
    Relu::bind({})(device, x, y);
}
