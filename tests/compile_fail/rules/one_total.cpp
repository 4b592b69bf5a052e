// expect: a kernel computes channel statistics once: put further statistics in the next Plan
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;
using Statistics = fk::ChannelStatistics;
using Relu = fk::Activation<fk::Relu>;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
auto const w = fk::random<float>(device, fk::kcrs(4, 4, 3, 3));
auto mean = fk::random<float>(device, fk::channels(4));
auto variance = fk::random<float>(device, fk::channels(4));
auto scratch = fk::random<float>(device, fk::channels(fk::ChannelStatistics::scratch(x.layout().shape)));

#ifdef CORRECTED
using Layer = fk::Plan<Conv, Statistics, Relu>;
auto const layer = Layer::bind({.weights = w}, {mean, variance, scratch}, {});
auto const y = fk::Plan<Statistics>::bind({mean, variance})(device, layer(device, x));
#else
using Layer = fk::Plan<Conv, Statistics, Statistics>;
auto const layer = Layer::bind({.weights = w}, {mean, variance, scratch}, {mean, variance});
auto const y = layer(device, x);
#endif
