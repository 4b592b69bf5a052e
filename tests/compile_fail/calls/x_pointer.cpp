// expect: x is neither a tensor nor a view: write fk::TensorView(pointer, fk::nchw(n, c, h, w))
// expect: float
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

fk::host::Device device;
float memory[256];

using Layer = fk::Plan<fk::Activation<fk::Relu>>;
auto const layer = Layer::bind({});
#ifdef CORRECTED
auto const y = layer(device, fk::TensorView<float const>(memory, fk::nchw(1, 4, 8, 8)));
#else
float const* const x = memory;
auto const y = layer(device, x);
#endif
