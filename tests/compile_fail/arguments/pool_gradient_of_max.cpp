// expect: PoolGradient is of Average, AverageWithPadding or MaxWithTaps
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
using Gradient = fk::PoolGradient<fk::MaxWithTaps, 2, 2>;
#else
using Gradient = fk::PoolGradient<fk::Max, 2, 2>;
#endif
static_assert(sizeof(Gradient) > 0);
