// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/launch_attribute.hpp"
#include "fusekit/backend/hip/arch/target.hpp"

namespace fusekit::hip {

/// kernels_overlap: true if a kernel may start before the previous one on its stream has ended (programmatic dependent
/// launch), because all targets of the program support it. Such a kernel calls wait_for_previous_kernel() before it
/// accesses global memory. Source: CUDA C++ Programming Guide, "Programmatic Dependent Launch"; in graphs from CUDA
/// 12.3.
///
/// A kernel that starts early occupies any SM with free resources. Split-K kernels (mainloop/split_gemm.hpp) do not
/// start early: on an H100, their long k-loops then took 1.1 to 1.3 times as long.
#if defined(__CUDACC__) && defined(__CUDA_ARCH_LIST__) && !defined(HIP_INCLUDE_HIP_HIP_RUNTIME_H) && \
    CUDART_VERSION >= 12030
inline constexpr bool kernels_overlap = arch::Sm<arch::lowest_listed()>::processor.overlaps_kernels;

FUSEKIT_H inline hipError_t launch_overlapping(AnyKernel kernel, dim3 grid, dim3 block, void** arguments,
                                               unsigned shared_bytes, hipStream_t stream) {
    return launch_with({starts_early()}, kernel, grid, block, arguments, shared_bytes, stream);
}
/// Like launch_overlapping(), for clusters of `cluster` CTAs. Every GPU with programmatic dependent launch has
/// clusters.
FUSEKIT_H inline hipError_t launch_overlapping_clusters(AnyKernel kernel, dim3 grid, dim3 block, unsigned cluster,
                                                        void** arguments, unsigned shared_bytes, hipStream_t stream) {
    return launch_with({in_clusters_of(cluster), starts_early()}, kernel, grid, block, arguments, shared_bytes, stream);
}
#else
inline constexpr bool kernels_overlap = false;

FUSEKIT_H hipError_t launch_overlapping(AnyKernel kernel, dim3 grid, dim3 block, void** arguments,
                                        unsigned shared_bytes, hipStream_t stream);
FUSEKIT_H hipError_t launch_overlapping_clusters(AnyKernel kernel, dim3 grid, dim3 block, unsigned cluster,
                                                 void** arguments, unsigned shared_bytes, hipStream_t stream);
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
__device__ inline void wait_for_previous_kernel() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
/// Allows the next kernel on the stream to start, on SMs with free resources for its CTAs, once all CTAs of this kernel
/// have made this call or ended.
__device__ inline void start_next_kernel() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
#else
__device__ inline void wait_for_previous_kernel() {}
__device__ inline void start_next_kernel() {}
#endif

}  // namespace fusekit::hip
