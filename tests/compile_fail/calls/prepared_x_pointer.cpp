// expect: x is neither a tensor nor a view: write fk::TensorView(pointer, fk::nchw(n, c, h, w))
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

void run(fk::host::Device& device, float const* pointer, fk::TensorView<float> y) {
#ifdef CORRECTED
    fk::TensorView<float const> const x(pointer, fk::nchw(1, 4, 8, 8));
#else
    float const* const x = pointer;
#endif
    static_cast<void>(fk::Plan<fk::Activation<fk::Relu>>::bind({}).try_prepare(device, x, y));
}
