// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/abi.hpp"

namespace fusekit::hip {

/// Properties of a processor (compute unit or streaming multiprocessor), and compilation parameters for it.
struct Processor {
    int wave;                ///< lanes of a wave; on AMD, in kernels compiled by default
    int shared_bytes;        ///< shared memory of a processor, over all its CTAs
    int block_shared_bytes;  ///< shared memory that one CTA may declare

    /// Waves per SIMD, over all CTAs; 0 if occupancy is counted in CTAs. The second argument of __launch_bounds__
    /// counts CTAs per processor on NVIDIA, waves per SIMD on AMD.
    int waves_per_simd;

    bool has_async_copies;  ///< global to shared memory, without a register
    bool overlaps_kernels;  ///< may start a kernel while the previous one on its stream ends
    bool has_clusters;  ///< clusters of CTAs, with DSMEM

    /// Unroll factors: gemm_unroll, of the loop over the GemmK indices of a k-tile in SIMT kernels with at most 400
    /// threads per processor; crowded_gemm_unroll, of the same loop with more threads; merge_unroll, of the loop that
    /// merges the statistics totals of several CTAs.
    int gemm_unroll, crowded_gemm_unroll, merge_unroll;

    FUSEKIT_H constexpr int residency(int blocks) const { return waves_per_simd > 0 ? waves_per_simd : blocks; }
    FUSEKIT_H constexpr int unroll_of_gemm(int threads) const {
        return threads > 400 ? crowded_gemm_unroll : gemm_unroll;
    }
};

}  // namespace fusekit::hip
