// expect: x is neither a tensor nor a view: write fk::TensorView(pointer, fk::nchw(n, c, h, w))
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

void run(float const* pointer, fk::TensorView<float> y) {
    fk::hip::Device device;
#ifdef CORRECTED
    fk::TensorView<float const> const x(pointer, fk::nchw(1, 4, 8, 8));
#else
    float const* const x = pointer;
#endif
    fk::Plan<fk::Activation<fk::Relu>>::bind({})(device, x, y);
}
