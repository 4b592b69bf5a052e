// SPDX-License-Identifier: MIT
#pragma once

namespace fusekit::hip {

/// What a processor, a compute unit or a streaming multiprocessor, has, and what follows for code that is compiled for
/// it.
struct Processor {
    int wave;                ///< threads of a wave; on AMD that of kernels compiled by default
    int shared_bytes;        ///< of shared memory, for all its blocks together
    int block_shared_bytes;  ///< that one block may declare

    /// What the second argument of __launch_bounds__ counts: blocks of a processor on NVIDIA, waves of a SIMD on AMD.
    /// Two waves take turns there, whatever blocks they are of. 0 where it counts blocks.
    int waves_per_simd;

    bool has_async_copies;  ///< from memory to shared memory, without a register
    bool overlaps_kernels;  ///< may start a kernel while the one before it on its stream ends

    /// How far the product of one step is unrolled, with the registers of at most 400 threads a processor, and of more;
    /// and the merging of totals.
    int gemm_unroll, crowded_gemm_unroll, merge_unroll;

    constexpr int residency(int blocks) const { return waves_per_simd > 0 ? waves_per_simd : blocks; }
    constexpr int unroll_of_gemm(int threads) const { return threads > 400 ? crowded_gemm_unroll : gemm_unroll; }
};

}  // namespace fusekit::hip
