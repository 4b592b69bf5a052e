// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/abi.hpp"

namespace fusekit::hip {

/// The facts of a processor, a compute unit or a streaming multiprocessor, and how code is compiled for it.
struct Processor {
    int wave;                ///< threads of a wave; on AMD, of kernels compiled by default
    int shared_bytes;        ///< shared memory of all its blocks together
    int block_shared_bytes;  ///< shared memory that one block may declare

    /// The second argument of __launch_bounds__ counts blocks of a processor on NVIDIA, waves of a SIMD on AMD. This is
    /// how many waves, of any blocks, take turns on a SIMD; 0 where blocks are counted.
    int waves_per_simd;

    bool has_async_copies;  ///< from memory to shared memory, without a register
    bool overlaps_kernels;  ///< may start a kernel while the one before it on its stream ends
    bool has_clusters;  ///< of blocks that read each other's shared memory

    /// How often loops are unrolled: the product of one step with at most 400 threads a processor, the same with more
    /// threads, and the merging of totals.
    int gemm_unroll, crowded_gemm_unroll, merge_unroll;

    FUSEKIT_H constexpr int residency(int blocks) const { return waves_per_simd > 0 ? waves_per_simd : blocks; }
    FUSEKIT_H constexpr int unroll_of_gemm(int threads) const {
        return threads > 400 ? crowded_gemm_unroll : gemm_unroll;
    }
};

}  // namespace fusekit::hip
