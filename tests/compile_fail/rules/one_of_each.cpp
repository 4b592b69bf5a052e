// expect: a Plan has at most one Bias, BatchNorm and Activation on either side of a Conv or Gemm: add more as Stage::pointwise
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;
using Relu = fk::Activation<fk::Relu>;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
auto const w = fk::random<float>(device, fk::kcrs(4, 4, 3, 3));
auto const b = fk::random<float>(device, fk::channels(4));

#ifdef CORRECTED
using Layer = fk::Plan<Conv, fk::Bias, fk::Residual, Relu>;
auto const layer = Layer::bind({.weights = w}, {.bias = b}, {.z = x}, {});
#else
using Layer = fk::Plan<Conv, fk::Bias, fk::Residual, fk::Bias, Relu>;
auto const layer = Layer::bind({.weights = w}, {.bias = b}, {.z = x}, {.bias = b}, {});
#endif
auto const y = layer(device, x);
