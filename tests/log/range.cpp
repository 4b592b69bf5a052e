// SPDX-License-Identifier: MIT
//
// Launches one run on the emulated GPU, whose range the stand-in of a profiler's library prints; then a run that writes
// nothing, which launches nothing.
#include <fusekit/hip.hpp>

namespace fk = fusekit;

int main() {
    fk::hip::Device device;
    auto const relu = fk::Plan<fk::Activation<fk::Relu>>::bind({});
    auto const x = fk::random<float>(device, fk::nchw(2, 3, 5, 7));
    fk::Tensor<float, fk::hip::Device> y(device, fk::nchw(2, 3, 5, 7));
    relu.prepare(device, x, y)(device, x, y);
    fk::Tensor<float, fk::hip::Device> const empty(device, fk::nchw(0, 3, 5, 7));
    fk::Tensor<float, fk::hip::Device> nothing(device, fk::nchw(0, 3, 5, 7));
    relu(device, empty, nothing);
    device.synchronize();
}
