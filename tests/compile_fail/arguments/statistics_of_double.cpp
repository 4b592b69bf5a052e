// expect: statistics and gradients are totalled in float: a plan of them takes no double
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
using Real = float;
#else
using Real = double;
#endif

fk::host::Device device;
auto const x = fk::random<Real>(device, fk::nchw(1, 4, 8, 8));
auto mean = fk::random<float>(device, fk::channels(4));
auto variance = fk::random<float>(device, fk::channels(4));
auto const y = fk::Plan<fk::ChannelStatistics>::bind({.mean = mean, .variance = variance})(device, x);
