// expect: nvcc does not know CPU vectors: compile plans for the host with the C++ compiler
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

// Plans on double use no vectors.
#ifdef CORRECTED
using Number = double;
#else
using Number = float;
#endif

void run(fk::host::Device& device, fk::TensorView<Number const> x, fk::TensorView<Number> y) {
    auto const layer = fk::Plan<fk::Activation<fk::Relu>>::bind({});
    layer(device, x, y);
    static_cast<void>(layer(device, x));
}
