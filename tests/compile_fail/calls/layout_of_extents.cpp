// expect: these are extents without strides: write fk::nchw(n, c, h, w) or the like
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

fk::host::Device device;
#ifdef CORRECTED
fk::Tensor<float, fk::host::Device> x(device, fk::nchw(8, 64, 56, 56));
#else
fk::Tensor<float, fk::host::Device> x(device, {8, 64, 56, 56});
#endif
