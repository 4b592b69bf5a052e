// SPDX-License-Identifier: MIT
#pragma once

#include "support/backend.hpp"

namespace bench {

/// Measures `threads` threads of this CPU. Takes about half a second.
Ceilings measure_ceilings(int threads);

}  // namespace bench
