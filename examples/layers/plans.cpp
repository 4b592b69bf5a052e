// SPDX-License-Identifier: MIT
//
// The plans, compiled once: the application's units do not include them.
#include "plans.hpp"

#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;

/// A plan for each activation, in layers of one type. One plan that switches is in ../recipes/run_time_activation.cpp:
/// it is less to compile where there are many.
Layer convolution(fk::TensorView<float const> weights, Parameters bias, Activation activation) {
    switch (activation) {
        case Activation::relu:
            return fk::Plan<Conv, fk::Bias, fk::Activation<fk::Relu>>::bind({.weights = weights}, {.bias = bias}, {});
        case Activation::tanh:
            return fk::Plan<Conv, fk::Bias, fk::Activation<fk::Tanh>>::bind({.weights = weights}, {.bias = bias}, {});
        default: return fk::Plan<Conv, fk::Bias>::bind({.weights = weights}, {.bias = bias});
    }
}

Layer global_average() { return fk::Plan<fk::GlobalAverage>::bind({}); }
