// expect: Backward: a pool's gradient has more elements than its dy, so it is another plan
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Relu = fk::Activation<fk::Relu>;
#ifdef CORRECTED
using Layer = fk::Plan<fk::Bias, Relu>;
#else
using Layer = fk::Plan<fk::Bias, Relu, fk::Pool<fk::Max, 2, 2>>;
#endif
using Gradients = fk::Backward<Layer>;
static_assert(sizeof(Gradients) > 0);
