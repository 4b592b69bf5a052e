// mistakes: 2
// expect: the first argument is not a device: write layer(device, x, y) or layer(device, x)
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

extern fk::Tensor<float, fk::host::Device> x, y;
extern fk::host::Device device;
auto const layer = fk::Plan<fk::Activation<fk::Relu>>::bind({});

void call() {
#ifdef CORRECTED
    layer(device, x, y);
    layer(device, x, y);
#else
    static_cast<void>(layer(x, y));
    layer(x, device, y);
#endif
}
