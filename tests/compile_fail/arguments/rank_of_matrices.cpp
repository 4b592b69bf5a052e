// expect: x has another rank than matrices: M x K is 2 modes, and batches of them are 3 or 4
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

fk::host::Device device;
auto const volume = fk::random<float>(device, fk::ncdhw(2, 4, 8, 8, 8));
auto const matrices = fk::random<float>(device, fk::row_major(2, 8, 8));
auto const w = fk::random<float>(device, fk::row_major(6, 8));

auto const layer = fk::Plan<fk::Gemm>::bind({.weights = w});
#ifdef CORRECTED
auto const y = layer(device, matrices);
#else
auto const y = layer(device, volume);
#endif
