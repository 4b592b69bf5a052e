// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/abi.hpp"
#include "fusekit/backend/hip/statistics/shared_totals.hpp"

namespace fusekit::hip {

/// Limits for pairwise summation. A CTA divides the values of a column into a power of two of parts (contiguous
/// ranges), sums each part, and merges the parts' sums in pairs, so that the rounding error does not grow with the
/// tensor. max_values_of_part: number of values that a thread adds in sequence. max_width_of_parts: number of columns
/// that a CTA reduces at once if there are several parts.
inline constexpr std::int64_t max_values_of_part = 1024, max_width_of_parts = 8;

/// Maximum number of parts into which a sum is divided, given the SMEM of a CTA of `threads` threads: PairwiseTotals
/// stores log2(parts) + 1 sums of each column.
FUSEKIT_H constexpr std::int64_t max_parts(std::int64_t threads) {
    return std::int64_t{1} << ((threads - threads / 4) / max_width_of_parts - 1);
}

/// Sums of parts (contiguous ranges of the values to be summed), merged in pairs like a binary counter: level i holds
/// the sum of 2^i parts. The sums are in the SMEM rows that Rows::sum() also uses; with several parts it uses a quarter
/// of each row. Source: Higham 1993, The accuracy of floating point summation, on pairwise summation.
template <class Total, int Count, int threads>
struct PairwiseTotals {
    SharedTotals<Total, Count, threads> storage;

    /// Adds the sums of part number `part` (0, 1, 2, ..., in order). All threads of a column pass them in `totals`. On
    /// return, `totals` are the sums of the last 2^i parts, where 2^i is the largest power of two that divides part +
    /// 1. `puts` is true in the one thread of each column that writes to SMEM. Ends with __syncthreads().
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
