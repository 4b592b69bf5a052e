// expect: the option of a Conv is Weights<T> or Products<T>
// SPDX-License-Identifier: MIT
#include <fusekit/fusekit.hpp>

namespace fk = fusekit;

#ifdef CORRECTED
using Layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1), fk::Weights<fk::int8>>>;
#else
using Layer = fk::Plan<fk::Conv<fk::filter(3, 3).pad(1), fk::int8>>;
#endif
