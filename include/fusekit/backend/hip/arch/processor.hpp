// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/abi.hpp"

namespace fusekit::hip {

/// Properties of a processor (compute unit or streaming multiprocessor), and compilation parameters that depend on it.
struct Processor {
    int wave = 32;  ///< lanes per wave; on AMD, in kernels compiled by default
    int shared_bytes;  ///< bytes of shared memory per processor, for all its CTAs
    int block_shared_bytes;  ///< bytes of shared memory that one CTA may declare

    /// Waves per SIMD that kernels request by the second argument of __launch_bounds__ on AMD; 0 on NVIDIA, where that
    /// argument is the number of CTAs per processor.
    int waves_per_simd = 0;

    bool has_async_copies = false;  ///< true if the processor copies from global to shared memory without a register
    bool overlaps_kernels = false;  ///< true if a kernel may start before the previous one on its stream has ended
    bool has_clusters = false;  ///< true if the processor has clusters of CTAs, with DSMEM

    /// Unroll factors. gemm_unroll: of the loop over the GemmK indices of a k-tile in SIMT kernels with at most 400
    /// threads per processor. crowded_gemm_unroll: of the same loop with more threads per processor. merge_unroll: of
    /// the loop that merges the statistics of several CTAs.
    int gemm_unroll = 2, crowded_gemm_unroll = 2, merge_unroll = 1;

    FUSEKIT_H constexpr int residency(int blocks) const { return waves_per_simd > 0 ? waves_per_simd : blocks; }
    FUSEKIT_H constexpr int unroll_of_gemm(int threads) const {
        return threads > 400 ? crowded_gemm_unroll : gemm_unroll;
    }
};

}  // namespace fusekit::hip
