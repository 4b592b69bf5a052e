// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/abi.hpp"
#include "fusekit/backend/hip/statistics/shared_totals.hpp"

namespace fusekit::hip {

/// Limits for summation in parts: a CTA divides the values that it sums into a power of two of parts, sums each part
/// and merges the parts' totals in pairs, so that rounding errors do not grow with the tensor. max_values_of_part:
/// values that a thread adds in sequence within a part. max_width_of_parts: maximum number of columns that a CTA
/// reduces at once if there are several parts.
inline constexpr std::int64_t max_values_of_part = 1024, max_width_of_parts = 8;

/// Maximum number of parts whose totals fit the SMEM of a CTA of `threads` threads.
FUSEKIT_H constexpr std::int64_t max_parts(std::int64_t threads) {
    return std::int64_t{1} << ((threads - threads / 4) / max_width_of_parts - 1);
}

/// Totals of parts (see above), merged as a binary counter adds: level i holds the total of 2^i parts. The totals are
/// in the same SMEM as those of Rows::sum(), which uses a quarter of each row if there are several parts. Source:
/// Higham 1993, The accuracy of floating point summation, on pairwise summation.
template <class Total, int Count, int threads>
struct PairwiseTotals {
    SharedTotals<Total, Count, threads> storage;

    /// Adds the totals of part number `part`, which all threads of a column have, and carries: `totals` become the
    /// totals of the last 2^i parts, where 2^i is the largest power of two that divides part + 1. `puts` is true in the
    /// one thread of each column that writes to SMEM.
    __device__ __forceinline__ void add(unsigned part, Total (&totals)[Count], unsigned column, bool puts) const {
        unsigned level = 0;
        for (; part >> level & 1; ++level)
#pragma unroll
            for (int i = 0; i < Count; ++i) totals[i] = merge(storage.get(index_of(level, column), i), totals[i]);
        if (puts) storage.put(index_of(level, column), totals);
        __syncthreads();
    }

private:
    __device__ __forceinline__ static unsigned index_of(unsigned level, unsigned column) {
        return threads / 4 + level * static_cast<unsigned>(max_width_of_parts) + column;
    }
};

}  // namespace fusekit::hip
