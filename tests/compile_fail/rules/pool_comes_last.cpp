// expect: a pool changes the shape of y, so it is the last operator of a Plan
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Relu = fk::Activation<fk::Relu>;
using Pool = fk::Pool<fk::Max, 2, 2>;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
auto const b = fk::random<float>(device, fk::channels(4));

#ifdef CORRECTED
using Layer = fk::Plan<fk::Bias, Relu, Pool>;
#else
using Layer = fk::Plan<fk::Bias, Pool, Relu>;
#endif
auto const layer = Layer::bind({.bias = b}, {}, {});
auto const y = layer(device, x);
