// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/wave.hpp"

namespace fusekit::hip {

/// SMEM of a CTA of `threads` threads through which the threads of a row merge `count` values each: the `group` threads
/// of a row are adjacent, a power of two.
template <int threads, int count>
struct RowExchange {
    static constexpr int wave = arch::Target::processor.wave;
    static_assert(threads / wave <= wave, "a wave merges the values of all waves");
    float of_waves[threads / wave][count];

    /// Merges the values of a row's threads, in an order that depends on `group` alone; each of them gets the result.
    /// All threads of the CTA call it. Between two calls on one object, all threads pass another barrier.
    template <class Merge>
    __device__ void merge(float (&values)[count], Merge const& merge_two, unsigned group, unsigned thread) {
#pragma unroll
        for (unsigned mask = wave / 2; mask > 0; mask /= 2)
#pragma unroll
            for (int i = 0; i < count; ++i) {
                float const other = of_lane_xor(values[i], mask);
                if (mask < group) values[i] = merge_two(values[i], other);
            }
        if (group <= wave) return;
        if (thread % wave == 0)
#pragma unroll
            for (int i = 0; i < count; ++i) of_waves[thread / wave][i] = values[i];
        __syncthreads();
        unsigned const parts = group / wave, lane = thread % wave;
#pragma unroll
        for (int i = 0; i < count; ++i) values[i] = of_waves[thread / group * parts + (lane & (parts - 1))][i];
        for (unsigned mask = 1; mask < parts; mask *= 2)
#pragma unroll
            for (int i = 0; i < count; ++i) values[i] = merge_two(values[i], of_lane_xor(values[i], mask));
    }
};

}  // namespace fusekit::hip
