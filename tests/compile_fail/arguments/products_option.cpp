// expect: Products are of float, bfloat16x3 or tf32
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
using Layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1), fk::Products<fk::tf32>>>;
#else
using Layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1), fk::Products<fk::half>>>;
#endif
