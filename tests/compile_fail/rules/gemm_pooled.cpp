// expect: tiles of a Conv hold windows of Pool<Of, 2, 2> alone, statistics none, and a Gemm no images: pool in the next Plan
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
