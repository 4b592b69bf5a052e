// SPDX-License-Identifier: MIT
#pragma once

#include "support/backend.hpp"

namespace bench {

/// Measures this CPU with `threads` threads. Takes about half a second.
Ceilings measure_ceilings(int threads);

}  // namespace bench
