// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/runtime/platform.hpp"

namespace fusekit::hip {

/// Totals of a CTA's threads in SMEM: Count totals per thread, one row per float, one element of a row per thread.
template <class Total, int Count, int threads>
struct SharedTotals {
    static constexpr int words = sizeof(Total) / sizeof(float);
    float* first;

    __device__ __forceinline__ void put(unsigned place, Total const (&totals)[Count]) const {
#pragma unroll
        for (int i = 0; i < Count; ++i)
#pragma unroll
            for (int word = 0; word < words; ++word)
                at(place, i, word) = reinterpret_cast<float const*>(&totals[i])[word];
    }
    /// Reloads the total, so that it does not stay in registers since put().
    __device__ __forceinline__ Total get(unsigned place, int i) const {
        Total total;
#pragma unroll
        for (int word = 0; word < words; ++word)
            reinterpret_cast<float*>(&total)[word] = static_cast<float volatile&>(at(place, i, word));
        return total;
    }

private:
    __device__ __forceinline__ float& at(unsigned place, int i, int word) const {
        return first[static_cast<unsigned>(i * words + word) * threads + place];
    }
};

}  // namespace fusekit::hip
