// SPDX-License-Identifier: MIT
#pragma once

namespace bench {

/// What this machine reaches on `threads` threads when nothing but arithmetic, or nothing but memory, is in the way.
struct Ceilings {
    double gflops;              ///< float fused multiply-adds in registers, two operations each
    double gigabytes_a_second;  ///< copying memory, bytes read plus bytes written
};

/// Takes about half a second.
Ceilings measure_ceilings(int threads);

}  // namespace bench
