// expect: the stream's device is of another type than the one that the run was prepared on
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
