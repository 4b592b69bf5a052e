// expect: operators before a Conv or Gemm are applied to every value that it reads, so they are functions of the value and its channel alone: put others into a Plan before it
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;
using Norm = fk::BatchNormInference<fk::Spatial>;
using Relu = fk::Activation<fk::Relu>;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
auto const w = fk::random<float>(device, fk::kcrs(4, 4, 3, 3));
auto const b = fk::random<float>(device, fk::channels(4));

#ifdef CORRECTED
using Layer = fk::Plan<Conv, Norm, Relu>;
auto const layer = Layer::bind({.weights = w}, {.mean = b, .variance = b, .scale = b, .shift = b}, {});
#else
using Layer = fk::Plan<Relu, Norm, fk::Residual, Conv>;
auto const layer = Layer::bind({}, {.mean = b, .variance = b, .scale = b, .shift = b}, {.z = x}, {.weights = w});
#endif
auto const y = layer(device, x);
