// expect: no operator may precede a ConvWeightGradient, which reads the x of the Conv
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(2, 4, 8, 8)), dy = fk::random<float>(device, fk::nchw(2, 6, 8, 8));
using Gradient = fk::ConvWeightGradient<fk::filter(1, 1)>;
#ifdef CORRECTED
auto const dw = fk::Plan<Gradient>::bind({.dy = dy})(device, x);
#else
auto const dw = fk::Plan<fk::Activation<fk::Relu>, Gradient>::bind({}, {.dy = dy})(device, x);
#endif
