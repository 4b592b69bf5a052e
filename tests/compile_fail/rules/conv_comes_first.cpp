// expect: Conv produces the accumulator, so it must be the first operator of a Plan: end this Plan before it, and begin the next with it
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
auto const w = fk::random<float>(device, fk::kcrs(4, 4, 3, 3));
auto const b = fk::random<float>(device, fk::channels(4));

#ifdef CORRECTED
using Layer = fk::Plan<Conv, fk::Bias>;
auto const layer = Layer::bind({.weights = w}, {.bias = b});
#else
using Layer = fk::Plan<fk::Bias, Conv>;
auto const layer = Layer::bind({.bias = b}, {.weights = w});
#endif
auto const y = layer(device, x);
