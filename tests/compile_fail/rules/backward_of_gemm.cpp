// expect: Backward: the gradients of a Conv or Gemm are plans of their own, of TransposedConv and ConvWeightGradient
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
