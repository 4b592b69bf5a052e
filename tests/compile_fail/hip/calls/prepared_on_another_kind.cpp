// expect: a prepared run takes a stream of the kind of device that it was prepared on
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
using Device = fk::hip::Device;
#else
using Device = fk::host::Device;
#endif

void run(fk::hip::Device& device, Device& other, float const* x, float* y) {
    auto const layout = fk::nchw(1, 4, 8, 8);
    fk::Plan<fk::Activation<fk::Relu>>::bind({}).prepare<float>(device, layout, layout)(other, x, y);
}
