// expect: x and y must have the same rank
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

int main() {
    fk::host::Device device;
    auto const x = fk::random<float>(device, fk::ncw(2, 4, 8));
#ifdef CORRECTED
    fk::Tensor<float, fk::host::Device, 3> y(device, fk::ncw(2, 4, 8));
#else
    fk::Tensor<float, fk::host::Device, 4> y(device, fk::nchw(2, 4, 1, 8));
#endif
    fk::Plan<fk::Activation<fk::Relu>>::bind({})(device, x, y);
}
