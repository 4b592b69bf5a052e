// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {

/// Statistics of a CTA's threads in SMEM, Count Totals (for example of count, mean and squared deviations) per thread,
/// as a matrix: one row per float of each of the Count Totals, one column per thread.
template <class Total, int Count, int threads>
struct SharedTotals {
    static constexpr int words = sizeof(Total) / sizeof(float);
    float* first;

    __device__ __forceinline__ void put(unsigned index, Total const (&totals)[Count]) const {
#pragma unroll
        for (int i = 0; i < Count; ++i)
#pragma unroll
            for (int word = 0; word < words; ++word)
                at(index, i, word) = reinterpret_cast<float const*>(&totals[i])[word];
    }
    /// Loads statistics number i, 0 to Count - 1, of thread `index` from SMEM. The loads are volatile, so that the
    /// compiler does not forward the values of this thread's put().
    __device__ __forceinline__ Total get(unsigned index, int i) const {
        Total total;
#pragma unroll
        for (int word = 0; word < words; ++word)
            reinterpret_cast<float*>(&total)[word] = static_cast<float volatile&>(at(index, i, word));
        return total;
    }

private:
    __device__ __forceinline__ float& at(unsigned index, int i, int word) const {
        return first[static_cast<unsigned>(i * words + word) * threads + index];
    }
};

}  // namespace fusekit::hip
