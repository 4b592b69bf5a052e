// expect: x of a Gemm must have 2 modes, M x K, or 3 or 4 modes in a batch
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
