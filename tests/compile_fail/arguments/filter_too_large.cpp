// expect: this_number_does_not_fit_int
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
using Layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1)>>;
#else
using Layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1LL << 32)>>;
#endif
Layer const* layer;
