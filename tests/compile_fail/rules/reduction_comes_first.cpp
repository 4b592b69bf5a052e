// expect: statistics, norms, upsampling and gradients of pools read several values for each result: begin a Plan with them; only operators that map one value to one value, but no Amax, may precede a norm of rows
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Norm = fk::BatchNormTraining<fk::Spatial>;
using Relu = fk::Activation<fk::Relu>;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(2, 4, 8, 8));
auto const b = fk::random<float>(device, fk::channels(4));

#ifdef CORRECTED
using Layer = fk::Plan<Norm, fk::Scale, Relu>;
auto const layer = Layer::bind({.scale = b, .shift = b}, {}, {});
#else
using Layer = fk::Plan<fk::Scale, Norm, Relu>;
auto const layer = Layer::bind({}, {.scale = b, .shift = b}, {});
#endif
auto const y = layer(device, x);
