// expect: statistics need a pass of their own: after a Conv or others, put them in the next Plan
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;
using Relu = fk::Activation<fk::Relu>;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
auto const w = fk::random<float>(device, fk::kcrs(4, 4, 3, 3));
auto mean = fk::random<float>(device, fk::channels(4));
auto variance = fk::random<float>(device, fk::channels(4));

#ifdef CORRECTED
using Layer = fk::Plan<Conv>;
using Next = fk::Plan<fk::ChannelStatistics, Relu>;
auto const layer = Layer::bind({.weights = w});
auto const next = Next::bind({.mean = mean, .variance = variance}, {});
auto const y = next(device, layer(device, x));
#else
using Layer = fk::Plan<Conv, fk::ChannelStatistics, Relu>;
auto const layer = Layer::bind({.weights = w}, {.mean = mean, .variance = variance}, {});
auto const y = layer(device, x);
#endif
