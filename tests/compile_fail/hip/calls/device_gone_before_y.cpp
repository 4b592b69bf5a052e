// expect: a temporary device does not outlive y, its new tensor: give the device a name
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

void run(fk::hip::Device device, fk::TensorView<float const> x, fk::TensorView<float> y) {
    auto const layer = fk::Plan<fk::Activation<fk::Relu>>::bind({});
    layer(fk::hip::Device(), x, y);
    static_cast<void>(layer(device.with<fk::hip::Elementwise<>>(), x));
#ifdef CORRECTED
    static_cast<void>(layer(device, x));
#else
    static_cast<void>(layer(fk::hip::Device(), x));
#endif
}
