// expect: x of 2 modes, a matrix, is valid only with a Gemm, a norm of rows or a softmax: other plans take 3 to 5 modes
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

fk::host::Device device;
auto const signal = fk::random<float>(device, fk::ncw(2, 8, 8));
auto const matrix = fk::random<float>(device, fk::row_major(8, 8));

auto const layer = fk::Plan<fk::Activation<fk::Relu>>::bind({});
#ifdef CORRECTED
auto const y = layer(device, signal);
#else
auto const y = layer(device, matrix);
#endif
