// expect: Pool takes windows of 2 x 2, which a tile holds four by four values
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
using Pool = fk::Pool<fk::Max, 2, 2>;
#else
using Pool = fk::Pool<fk::Max, 3, 3>;
#endif

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
auto const y = fk::Plan<Pool>::bind({})(device, x);
