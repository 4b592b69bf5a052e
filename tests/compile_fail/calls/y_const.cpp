// expect: y must be a tensor or view with elements that are not const: write fk::TensorView(pointer, fk::nchw(n, k, p, q))
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

fk::host::Device device;
auto const x = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
#ifdef CORRECTED
auto y = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
#else
auto const y = fk::random<float>(device, fk::nchw(1, 4, 8, 8));
#endif

void run() { fk::Plan<fk::Activation<fk::Relu>>::bind({})(device, x, y); }
