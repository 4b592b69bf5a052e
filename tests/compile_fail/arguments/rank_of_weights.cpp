// expect: Conv<
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

fk::host::Device device;
auto const planes = fk::random<float>(device, fk::kcrs(4, 4, 3, 3));
auto const volumes = fk::random<float>(device, fk::kctrs(4, 4, 3, 3, 3));

using Layer = fk::Plan<fk::Conv<fk::filter(3, 3, 3)>, fk::Activation<fk::Relu>>;
#ifdef CORRECTED
auto const layer = Layer::bind({.weights = volumes}, {});
#else
auto const layer = Layer::bind({.weights = planes}, {});
#endif
