// expect: a Plan needs at least one operator
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Relu = fk::Activation<fk::Relu>;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));

#ifdef CORRECTED
using Layer = fk::Plan<Relu>;
auto const layer = Layer::bind({});
#else
using Layer = fk::Plan<>;
auto const layer = Layer::bind();
#endif
auto const y = layer(device, x);
