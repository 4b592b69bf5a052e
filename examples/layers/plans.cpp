// SPDX-License-Identifier: MIT
//
// The plans, compiled once: the application's units do not include them.
#include "plans.hpp"

#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

/// y = x, max(x, 0) or tanh(x): one plan with an operator that switches, in place of a plan for each activation. The
/// choice is the same for all elements, so that it costs little beside their loads and stores.
struct Switch {
    static constexpr auto stage = fk::Stage::activation;
    struct Args {
        Activation activation;
    };

    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const& args) {
        switch (args.activation) {
            case Activation::relu: return fk::math::max(x, 0.0f);
            case Activation::tanh: return fk::math::tanh(x);
            default: return x;
        }
    }
};

Layer convolution(fk::TensorView<float const> weights, Parameters bias, Activation activation) {
    using Plan = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>, fk::Bias, Switch>;
    return Plan::bind({.weights = weights}, {.bias = bias}, {.activation = activation});
}

Layer global_average() { return fk::Plan<fk::GlobalAverage>::bind({}); }
