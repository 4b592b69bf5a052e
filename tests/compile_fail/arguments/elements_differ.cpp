// expect: x and y must both be double, or neither
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
auto const w = fk::random<float>(device, fk::kcrs(4, 4, 3, 3));

using Layer = fk::Plan<Conv>;
void run() {
#ifdef CORRECTED
    auto y = fk::random<fk::half>(device, fk::nchw(1, 4, 8, 8));
#else
    auto y = fk::random<double>(device, fk::nchw(1, 4, 8, 8));
#endif
    Layer::bind({.weights = w})(device, x, y);
}
