// expect: operators before a Conv or Gemm are applied to every value that it reads, so they are functions of the value and its channel alone: put others into a Plan before it
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;
using Relu = fk::Activation<fk::Relu>;

fk::host::Device device;

#ifdef CORRECTED
using Layer = fk::Plan<Conv, Relu>;
#else
using Layer = fk::Plan<fk::Residual, Conv>;
#endif
