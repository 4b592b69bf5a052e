// expect: per-pixel parameters are not valid after a Gemm: pass one per column
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::row_major(8, 4));
auto const w = fk::random<float>(device, fk::row_major(6, 4));
auto const ones = fk::random<float>(device, fk::channels(6));
auto const pixels = fk::random<float>(device, fk::row_major(8, 6));

#ifdef CORRECTED
using Layer = fk::Plan<fk::Gemm, fk::BatchNormInference<fk::Spatial>>;
auto const layer = Layer::bind({.weights = w}, {.mean = ones, .variance = ones, .scale = ones, .shift = ones});
#else
using Layer = fk::Plan<fk::Gemm, fk::BatchNormInference<fk::PerActivation>>;
auto const layer = Layer::bind({.weights = w}, {.mean = pixels, .variance = pixels, .scale = pixels, .shift = pixels});
#endif
auto const y = layer(device, x);
