// SPDX-License-Identifier: MIT
#include "support/layer_plans.hpp"

#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

HostLayer pointwise_convolution(fk::TensorView<float const> weights, fk::TensorView<float const, 1> bias) {
    return fk::Plan<fk::Conv<fk::filter(1, 1)>, fk::Bias>::bind({.weights = weights}, {.bias = bias});
}
HostLayer average_pool() { return fk::Plan<fk::Pool<fk::Average, 2, 2>>::bind({}); }
fk::Layer<fk::half, fk::host::Device, 3> relu_of_signals() { return fk::Plan<fk::Activation<fk::Relu>>::bind({}); }
