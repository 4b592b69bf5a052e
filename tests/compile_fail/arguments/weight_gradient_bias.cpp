// expect: only operators of the value and its coordinate, such as Scale and Residual, may follow a ConvWeightGradient
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(2, 4, 8, 8)), dy = fk::random<float>(device, fk::nchw(2, 6, 8, 8));
auto const bias = fk::random<float>(device, fk::channels(4));
using Gradient = fk::ConvWeightGradient<fk::filter(1, 1)>;
#ifdef CORRECTED
auto const dw = fk::Plan<Gradient, fk::Scale>::bind({.dy = dy}, {.factor = 2})(device, x);
#else
auto const dw = fk::Plan<Gradient, fk::Bias>::bind({.dy = dy}, {.bias = bias})(device, x);
#endif
