// expect: Store and Amax cannot precede a Pool whose windows overlap or leave gaps: pool in the next Plan
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
auto values = fk::random<float>(device, fk::nchw(1, 4, 8, 8));

#ifdef CORRECTED
using Layer = fk::Plan<fk::Store, fk::Pool<fk::Max, 2, 2>>;
#else
using Layer = fk::Plan<fk::Store, fk::Pool<fk::Max, fk::filter(2, 2)>>;
#endif
auto const layer = Layer::bind({.values = values}, {});
auto const y = layer(device, x);
