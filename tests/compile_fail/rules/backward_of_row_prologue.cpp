// expect: Backward: no operator before a norm of rows: store its result, and bind the gradient of the plan from the norm on to it
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
using Layer = fk::Plan<fk::LayerNorm, fk::Scale>;
#else
using Layer = fk::Plan<fk::Scale, fk::LayerNorm>;
#endif
fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(2, 4, 8, 8));
auto const back = fk::Backward<Layer>::bind(Layer::bind({}, {}), x);
