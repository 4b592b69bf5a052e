// expect: y must be a pointer to, or a tensor of, non-const elements of the type that the run was prepared for
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
using T = float;
#else
using T = float const;
#endif

void run(fk::host::Device& device, float const* x, fk::TensorView<T> y) {
    auto const layout = fk::nchw(1, 4, 8, 8);
    fk::Plan<fk::Activation<fk::Relu>>::bind({}).prepare<float>(device, layout, layout)(device, x, y);
}
