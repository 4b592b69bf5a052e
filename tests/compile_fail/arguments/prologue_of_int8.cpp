// expect: no operator may precede a Conv or Gemm of int8, which sums integers: use two Plans
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Activation<fk::Relu>, fk::Conv<fk::filter(3, 3).pad(1)>>;

#ifdef CORRECTED
using T = fk::half;
#else
using T = fk::int8;
#endif
fk::host::Device device;
auto const x = fk::random<T>(device, fk::nchw(1, 4, 8, 8));
auto const w = fk::random<T>(device, fk::kcrs(4, 4, 3, 3));
auto const y = Layer::bind({}, {.weights = w})(device, x);
