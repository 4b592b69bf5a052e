// expect: the Conv needs x of another number of modes: filter(s) 3, filter(r, s) 4, filter(t, r, s) 5
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

fk::host::Device device;
auto const image = fk::random<float>(device, fk::nchw(2, 4, 8, 8));
auto const volume = fk::random<float>(device, fk::ncdhw(2, 4, 8, 8, 8));
auto const w = fk::random<float>(device, fk::kctrs(4, 4, 3, 3, 3));

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3, 3)>, fk::Activation<fk::Relu>>;
auto const layer = Layer::bind({.weights = w}, {});
#ifdef CORRECTED
auto const y = layer(device, volume);
#else
auto const y = layer(device, image);
#endif
