// expect: bind runs nothing: call what it gives, layer(device, x, y)
// expect: y is a new tensor: layer(device, x, y) writes to one of yours
// with: -Werror=unused-result
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));

void run() {
    using Layer = fk::Plan<fk::Activation<fk::Relu>>;
#ifdef CORRECTED
    auto const layer = Layer::bind({});
    auto const y = layer(device, x);
#else
    Layer::bind({});
    Layer::bind({})(device, x);
#endif
}
