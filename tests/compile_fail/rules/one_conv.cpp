// expect: a second Conv or Gemm reads the whole output of the first, so it is another kernel: use two Plans
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;
using Relu = fk::Activation<fk::Relu>;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
auto const w = fk::random<float>(device, fk::kcrs(4, 4, 3, 3));

#ifdef CORRECTED
using Layer = fk::Plan<Conv, Relu>;
auto const layer = Layer::bind({.weights = w}, {});
#else
using Layer = fk::Plan<Conv, Relu, Conv>;
auto const layer = Layer::bind({.weights = w}, {}, {.weights = w});
#endif
auto const y = layer(device, x);
