// expect: Scale.factor must be one number, not this (Source): for factors per channel use Requantize, x * scale[k]
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

extern fk::Tensor<float, fk::host::Device, 1> factors;

#ifdef CORRECTED
auto const layer = fk::Plan<fk::Requantize>::bind({.scale = factors});
#else
auto const layer = fk::Plan<fk::Scale>::bind({.factor = factors});
#endif
