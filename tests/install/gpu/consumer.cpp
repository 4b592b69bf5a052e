// SPDX-License-Identifier: MIT
// A user's program for a GPU.
#include <fusekit/hip.hpp>

namespace fk = fusekit;
// Both namespaces have a class and a concept named Device, which nvcc's generated code must distinguish.
using namespace fusekit;
using namespace fusekit::hip;

using ReluPlan = fk::Plan<fk::Activation<fk::Relu>>;

void relu(fk::hip::Device& device, fk::TensorView<float const> x, fk::TensorView<float> y) {
    ReluPlan::bind({})(device, x, y);
}
