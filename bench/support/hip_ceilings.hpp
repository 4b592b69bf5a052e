// SPDX-License-Identifier: MIT
#pragma once

#include "support/backend.hpp"
#include "support/hip_error.hpp"

namespace bench {

/// Measures the current GPU, with `processors` multiprocessors or compute units. Needs 3 GiB of GPU memory; takes about
/// a tenth of a second.
Ceilings measure_ceilings(hipStream_t stream, int processors);

}  // namespace bench
