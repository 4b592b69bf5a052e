// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/wave.hpp"

namespace fusekit::hip {

/// Threads of a block as rows of `tile` columns, a power of two, as is their number.
struct Rows {
    unsigned threads, tile, thread;

    /// Every thread's values become the sums over its column. `shared` has room for `threads` times Count floats.
    /// Called by all threads; in a fixed order, so that the same numbers come out of every run.
    template <int Count>
    __device__ void sum(float (&values)[Count], float* shared) const {
        unsigned const wave = warpSize;
        for (unsigned distance = tile; distance < wave; distance *= 2)
#pragma unroll
            for (int i = 0; i < Count; ++i) values[i] += of_lane_xor(values[i], distance);
        unsigned const width = tile < wave ? wave : tile, groups = threads / width, column = thread % tile;
        if (groups <= 1) return;
        if (thread % width < tile)
#pragma unroll
            for (unsigned i = 0; i < Count; ++i) shared[i * threads + thread / width * tile + column] = values[i];
        __syncthreads();
        if constexpr (Count > 2) {  // each sum by one thread, then by all that need it
            for (unsigned number = thread; number < Count * tile; number += threads) {
                float* const of_groups = shared + number / tile * threads + number % tile;
                float sum = of_groups[0];
                for (unsigned group = 1; group < groups; ++group) sum += of_groups[group * tile];
                of_groups[0] = sum;
            }
            __syncthreads();
        }
#pragma unroll
        for (unsigned i = 0; i < Count; ++i) values[i] = shared[i * threads + column];
        if constexpr (Count <= 2)
            for (unsigned group = 1; group < groups; ++group)
#pragma unroll
                for (unsigned i = 0; i < Count; ++i) values[i] += shared[i * threads + group * tile + column];
        __syncthreads();
    }
};

}  // namespace fusekit::hip
