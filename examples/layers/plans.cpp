// SPDX-License-Identifier: MIT
//
// The plans, compiled once: the application's units do not include them.
#include "plans.hpp"

#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;

/// One plan per activation, in layers of one type. ../recipes/run_time_activation.cpp has a single plan that switches:
/// with many activations it compiles faster.
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
