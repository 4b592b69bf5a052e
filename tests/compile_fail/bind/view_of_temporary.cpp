// expect: this tensor is freed before its view is used: give it a name
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Bias>;
extern fk::Tensor<float, fk::host::Device, 1> b;
fk::Tensor<float, fk::host::Device, 1> made();

#ifdef CORRECTED
auto const layer = Layer::bind({.bias = b.view()});
#else
auto const layer = Layer::bind({.bias = made().view()});
#endif
