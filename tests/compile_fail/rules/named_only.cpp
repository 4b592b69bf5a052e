// expect: Conv produces the accumulator, so it must be the first operator of a Plan: end this Plan before it, and begin the next with it
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

using Conv = fk::Conv<fk::filter(3, 3).pad(1)>;
using Relu = fk::Activation<fk::Relu>;

fk::host::Device device;

#ifdef CORRECTED
using Layer = fk::Plan<Conv, Relu>;
#else
using Layer = fk::Plan<Relu, Conv>;
#endif
