// expect: Backward: after a norm of rows, operators have parameters per channel, not per pixel
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
using Mode = fk::Spatial;
constexpr auto layout = fk::channels(4);
#else
using Mode = fk::PerActivation;
constexpr auto layout = fk::chw(4, 8, 8);
#endif
fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(2, 4, 8, 8));
auto const a = fk::random<float>(device, layout);
using Layer = fk::Plan<fk::LayerNorm, fk::BatchNormInference<Mode>>;
auto const layer = Layer::bind({}, {.mean = a, .variance = a, .scale = a, .shift = a});
auto const back = fk::Backward<Layer>::bind(layer, x);
