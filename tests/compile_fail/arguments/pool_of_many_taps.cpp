// expect: windows of MaxWithTaps have at most 128 elements
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
using Window = fk::Pool<fk::MaxWithTaps, fk::filter(8, 16)>;
#else
using Window = fk::Pool<fk::MaxWithTaps, fk::filter(8, 17)>;
#endif
static_assert(sizeof(Window) > 0);
