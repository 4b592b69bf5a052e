// expect: a second Conv or Gemm reads the whole output of the first, so it is another kernel: use two Plans
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Relu = fk::Activation<fk::Relu>;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::row_major(8, 4));
auto const w = fk::random<float>(device, fk::row_major(4, 4));

#ifdef CORRECTED
using Layer = fk::Plan<fk::Gemm, Relu>;
auto const layer = Layer::bind({.weights = w}, {});
#else
using Layer = fk::Plan<fk::Gemm, Relu, fk::Gemm>;
auto const layer = Layer::bind({.weights = w}, {}, {.weights = w});
#endif
auto const y = layer(device, x);
