// expect: bind runs nothing: call the bound plan, layer(device, x, y)
// expect: the call returns y as a new tensor: to write to an existing one call layer(device, x, y)
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
