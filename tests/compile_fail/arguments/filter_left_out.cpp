// expect: Args
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
auto const w = fk::random<float>(device, fk::kcrs(4, 4, 3, 3));

using Layer = fk::Plan<fk::Conv<fk::dynamic>>;
#ifdef CORRECTED
auto const layer = Layer::bind({.weights = w, .filter = fk::filter(3, 3)});
#else
auto const layer = Layer::bind({.weights = w});
#endif
auto const y = layer(device, x);
