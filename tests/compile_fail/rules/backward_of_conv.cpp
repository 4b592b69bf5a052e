// expect: Backward: a Conv's gradients are convolutions of their own, other plans
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Relu = fk::Activation<fk::Relu>;
#ifdef CORRECTED
using Layer = fk::Plan<fk::Bias, Relu>;
#else
using Layer = fk::Plan<fk::Conv<fk::filter(3, 3)>, fk::Bias, Relu>;
#endif
using Gradients = fk::Backward<Layer>;
static_assert(sizeof(Gradients) > 0);
