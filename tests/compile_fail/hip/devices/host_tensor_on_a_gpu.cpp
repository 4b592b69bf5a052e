// expect: x and y must be tensors of the kind of device that runs the plan, host or GPU; or views
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

// A view may be of memory that both can access: only the run can check.
void run(fk::hip::Device& device, fk::TensorView<float const> x, fk::Tensor<float, fk::host::Device>& y) {
    auto const layer = fk::Plan<fk::Scale>::bind({.factor = 2});
#ifdef CORRECTED
    layer(device, x, y.view());
#else
    layer(device, x, y);
#endif
}
