// expect g++: Collapsed(Source const&&) = delete
// expect clang: Collapsed(Source const&&) = delete
// expect nvcc: it is a deleted function
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Layer = fk::Plan<fk::Bias>;
extern fk::Tensor<float, fk::host::Device, 1> b;
fk::Tensor<float, fk::host::Device, 1> made();

#ifdef CORRECTED
auto const layer = Layer::bind({.bias = b});
#else
auto const layer = Layer::bind({.bias = made()});
#endif
