// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/wave.hpp"

namespace fusekit::hip {

/// Arrangement of a CTA's `threads` threads as a matrix with rows of `columns` threads, for sums over each column.
/// `thread` is this thread's index. `columns` and `threads` are powers of two.
struct Rows {
    unsigned threads, columns, thread;

    /// Replaces each of a thread's Count values by its sum over all threads of the same column. `shared` is SMEM
    /// scratch of threads * Count floats. All threads of the CTA call it. The order of the additions is fixed: results
    /// are bitwise identical in every run.
    template <int Count>
    __device__ void sum(float (&values)[Count], float* shared) const {
        auto const wave = static_cast<unsigned>(warpSize);
        for (unsigned distance = columns; distance < wave; distance *= 2)
#pragma unroll
            for (int i = 0; i < Count; ++i) values[i] += of_lane_xor(values[i], distance);
        unsigned const width = columns < wave ? wave : columns, parts = threads / width, column = thread % columns;
        if (parts <= 1) return;
        if (thread % width < columns)
#pragma unroll
            for (unsigned i = 0; i < Count; ++i) shared[i * threads + thread / width * columns + column] = values[i];
        __syncthreads();
        if constexpr (Count > 2) {  // one thread computes each sum, and then all threads of the column read it
            for (unsigned number = thread; number < Count * columns; number += threads) {
                float* const of_parts = shared + number / columns * threads + number % columns;
                float sum = of_parts[0];
                for (unsigned part = 1; part < parts; ++part) sum += of_parts[part * columns];
                of_parts[0] = sum;
            }
            __syncthreads();
        }
#pragma unroll
        for (unsigned i = 0; i < Count; ++i) values[i] = shared[i * threads + column];
        if constexpr (Count <= 2) {
            for (unsigned part = 1; part < parts; ++part)
#pragma unroll
                for (unsigned i = 0; i < Count; ++i) values[i] += shared[i * threads + part * columns + column];
        }
        __syncthreads();
    }
};

}  // namespace fusekit::hip
