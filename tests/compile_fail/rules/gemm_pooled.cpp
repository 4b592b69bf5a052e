// expect: after a Conv only Pool<Of, 2, 2> is valid, and after statistics or a Gemm no pool: pool in the next Plan
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::row_major(8, 4));
auto const w = fk::random<float>(device, fk::row_major(6, 4));

#ifdef CORRECTED
using Layer = fk::Plan<fk::Gemm>;
auto const layer = Layer::bind({.weights = w});
#else
using Layer = fk::Plan<fk::Gemm, fk::Pool<fk::Max, 2, 2> >;
auto const layer = Layer::bind({.weights = w}, {});
#endif
auto const y = layer(device, x);
