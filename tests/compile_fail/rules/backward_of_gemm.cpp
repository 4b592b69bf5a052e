// expect: Backward: no Conv or Gemm in the plan: its gradients are separate plans, of TransposedConv and ConvWeightGradient
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
using Layer = fk::Plan<fk::Bias, fk::Activation<fk::Relu>>;
#else
using Layer = fk::Plan<fk::Gemm, fk::Bias, fk::Activation<fk::Relu>>;
#endif
using Gradient = fk::Backward<Layer>;
Gradient gradient;
