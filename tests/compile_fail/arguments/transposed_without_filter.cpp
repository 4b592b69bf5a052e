// expect: TransposedConv takes a filter, as in TransposedConv<fk::filter(3, 3)>
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
auto const w = fk::random<float>(device, fk::kcrs(4, 4, 3, 3));

#ifdef CORRECTED
using Layer = fk::Plan<fk::TransposedConv<fk::filter(3, 3)>>;
#else
using Layer = fk::Plan<fk::TransposedConv<fk::dynamic>>;
#endif
auto const layer = Layer::bind({.weights = w});
auto const y = layer(device, x);
