// expect: after a Conv only Pool<Of, 2, 2> is valid, and after statistics or a Gemm no pool: pool in the next Plan
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
auto const w = fk::random<float>(device, fk::kcrs(4, 4, 3, 3));

#ifdef CORRECTED
auto const y = fk::Plan<fk::GlobalAverage>::bind({})(device, fk::Plan<Conv>::bind({.weights = w})(device, x));
#else
using Layer = fk::Plan<Conv, fk::GlobalAverage>;
auto const layer = Layer::bind({.weights = w}, {});
auto const y = layer(device, x);
#endif
