// expect: x and y must be tensors of the kind of device that runs the plan, host or GPU; or views
// SPDX-License-Identifier: MIT
#include <fusekit/hip.hpp>

namespace fk = fusekit;

void run(fk::Tensor<float, fk::hip::Device> const& x) {
#ifdef CORRECTED
    fk::hip::Device device;
#else
    fk::host::Device device;
#endif
    auto const y = fk::Plan<fk::Scale>::bind({.factor = 2})(device, x);
}
