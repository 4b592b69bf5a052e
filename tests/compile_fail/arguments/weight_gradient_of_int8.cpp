// expect: a ConvWeightGradient takes float, half, bfloat16 or double: int8 has no gradients
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
using T = fk::half;
#else
using T = fk::int8;
#endif
fk::host::Device device;
auto const x = fk::random<T>(device, fk::nchw(2, 4, 8, 8)), dy = fk::random<T>(device, fk::nchw(2, 6, 8, 8));
auto const dw = fk::Plan<fk::ConvWeightGradient<fk::filter(1, 1)>>::bind({.dy = dy})(device, x);
