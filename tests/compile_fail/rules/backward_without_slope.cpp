// expect: Backward: this operator (Op) of the plan needs a slope with the parameters of its apply
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

struct Square {
    static constexpr auto stage = fk::Stage::pointwise;
    struct Args {};

    template <class V>
    FUSEKIT_HD static constexpr V apply(V x, Args const&) {
        return x * x;
    }
#ifdef CORRECTED
    template <class V>
    FUSEKIT_HD static constexpr V slope(V x, Args const&) {
        return 2.0f * x;
    }
#endif
};

using Layer = fk::Plan<fk::Bias, Square>;
extern fk::Tensor<float, fk::host::Device> x;
extern fk::Tensor<float, fk::host::Device, 1> b;
using Gradients = fk::Backward<Layer>;
auto all(fk::BoundPlan<Layer> const& layer) { return Gradients::bind(layer, x, {.bias = b}, {}); }
auto of_x(fk::BoundPlan<Layer> const& layer) { return Gradients::bind(layer, x); }
