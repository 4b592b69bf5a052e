// expect: Backward: no Conv or Gemm in the plan: its gradients are separate plans, of TransposedConv and ConvWeightGradient
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Relu = fk::Activation<fk::Relu>;
#ifdef CORRECTED
using Layer = fk::Plan<fk::Scale, fk::Bias, Relu>;
#else
using Layer = fk::Plan<fk::Conv<fk::filter(3, 3)>, fk::Bias, Relu>;
#endif
extern fk::Tensor<float, fk::host::Device> x;
extern fk::Tensor<float, fk::host::Device, 1> b;
using Gradients = fk::Backward<Layer>;
auto all(fk::BoundPlan<Layer> const& layer) { return Gradients::bind(layer, x, {}, {.bias = b}, {}); }
auto of_x(fk::BoundPlan<Layer> const& layer) { return Gradients::bind(layer, x); }
