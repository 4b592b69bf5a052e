// expect: Backward: a pool's gradient has more elements than its dy, so it is another plan, of PoolGradient
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Relu = fk::Activation<fk::Relu>;
using Halved = fk::Pool<fk::Max, 2, 2>;
#ifdef CORRECTED
using Layer = fk::Plan<fk::Bias, Relu>;
#else
using Layer = fk::Plan<fk::Bias, Relu, Halved>;
#endif
using Gradients = fk::Backward<Layer>;
static_assert(sizeof(Gradients) > 0);
