// expect: the device is const, but a run changes it: pass one that is not
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
using Device = fk::host::Device;
#else
using Device = fk::host::Device const;
#endif

void run(Device& device, fk::TensorView<float const> x, fk::TensorView<float> y) {
    auto const layer = fk::Plan<fk::Activation<fk::Relu>>::bind({});
    layer(device, x, y);
    static_cast<void>(layer(device, x));
}
