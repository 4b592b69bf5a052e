// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/shared_totals.hpp"

namespace fusekit::hip {

/// A block totals its values in parts, a power of two, and merges these in pairs, so that errors do not grow with the
/// tensor. A thread adds this many values of a total one after another; where there are parts, a segment has few
/// columns.
inline constexpr std::int64_t most_values_of_part = 1024, most_width_of_parts = 8;

/// Parts that a block of so many threads has room for.
constexpr std::int64_t most_parts(std::int64_t threads) {
    return std::int64_t{1} << ((threads - threads / 4) / most_width_of_parts - 1);
}

/// The totals of parts that wait for others, as the digits of a binary counter: a level holds the total of as many
/// parts as its weight. They lie in the shared memory of the sums of Rows, which take a quarter of each row where there
/// are parts. Source: Higham 1993, The accuracy of floating point summation, on pairwise summation.
template <class Total, int Count, int threads>
struct PairwiseTotals {
    SharedTotals<Total, Count, threads> room;

    /// Adds a part, whose totals all threads of a column have, by carrying: `totals` become those of the parts that end
    /// with this one, as many as the highest power of two that divides their number. `puts`: one thread of each column.
    __device__ __forceinline__ void add(unsigned part, Total (&totals)[Count], unsigned column, bool puts) const {
        unsigned level = 0;
        for (; part >> level & 1; ++level)
#pragma unroll
            for (int i = 0; i < Count; ++i) totals[i] = merge(room.get(place(level, column), i), totals[i]);
        if (puts) room.put(place(level, column), totals);
        __syncthreads();
    }

private:
    __device__ __forceinline__ static unsigned place(unsigned level, unsigned column) {
        return threads / 4 + level * static_cast<unsigned>(most_width_of_parts) + column;
    }
};

}  // namespace fusekit::hip
