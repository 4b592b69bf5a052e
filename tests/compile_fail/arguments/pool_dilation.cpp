// expect: a Pool has no dilation, no groups
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
using Pool = fk::Pool<fk::Max, fk::filter(3, 3).pad(1)>;
#else
using Pool = fk::Pool<fk::Max, fk::filter(3, 3).dilation(2)>;
#endif

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
auto const y = fk::Plan<Pool>::bind({})(device, x);
