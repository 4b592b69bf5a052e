// expect: BatchNorm
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;
using Norm = fk::BatchNormInference<fk::Spatial>;

fk::host::Device device;
auto const w = fk::random<float>(device, fk::kcrs(4, 4, 3, 3));
auto const b = fk::random<float>(device, fk::channels(4));
auto const h = fk::random<fk::half>(device, fk::channels(4));

using Layer = fk::Plan<Conv, Norm>;
#ifdef CORRECTED
auto const layer = Layer::bind({.weights = w}, {.mean = b, .variance = b, .scale = b, .shift = b});
#else
auto const layer = Layer::bind({.weights = w}, {.mean = h, .variance = b, .scale = b, .shift = b});
#endif
