// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/launch_attribute.hpp"
#include "fusekit/backend/hip/arch/target.hpp"

namespace fusekit::hip {

/// Launch of kernels in clusters: groups of consecutive CTAs that are co-resident, synchronize, and read each other's
/// shared memory (DSMEM). kernels_cluster: true if all targets of the program have clusters. max_cluster_blocks: the
/// portable maximum of CTAs per cluster. max_large_cluster_blocks: the maximum of kernels for which
/// allow_large_clusters() has returned true. Source: CUDA C++ Programming Guide, "Thread Block Clusters".
inline constexpr unsigned max_cluster_blocks = 8, max_large_cluster_blocks = 16;

#if defined(HIP_ON_CPU)
inline constexpr bool kernels_cluster = arch::Target::processor.has_clusters;

FUSEKIT_H inline hipError_t launch_clusters(AnyKernel kernel, dim3 grid, dim3 block, unsigned cluster, void** arguments,
                                            unsigned shared_bytes, hipStream_t stream) {
    return hip_on_cpu::launch_clusters(kernel, grid, block, cluster, arguments, shared_bytes, stream);
}
/// Allows clusters of more than max_cluster_blocks CTAs of a kernel on the current device. Returns true if the device
/// can run a cluster of max_large_cluster_blocks CTAs of `threads` threads.
template <class Params>
FUSEKIT_H bool allow_large_clusters(void (*)(Params), unsigned) {
    return true;
}
#elif defined(__CUDACC__) && defined(__CUDA_ARCH_LIST__) && !defined(HIP_INCLUDE_HIP_HIP_RUNTIME_H) && \
    CUDART_VERSION >= 12000
inline constexpr bool kernels_cluster = arch::Sm<arch::lowest_listed()>::processor.has_clusters;

FUSEKIT_H inline hipError_t launch_clusters(AnyKernel kernel, dim3 grid, dim3 block, unsigned cluster, void** arguments,
                                            unsigned shared_bytes, hipStream_t stream) {
    return launch_with({in_clusters_of(cluster)}, kernel, grid, block, arguments, shared_bytes, stream);
}
template <class Params>
FUSEKIT_H bool allow_large_clusters(void (*kernel)(Params), unsigned threads) {
    auto const* const function = reinterpret_cast<void const*>(kernel);
    if (cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) != cudaSuccess) return false;
    cudaLaunchAttribute size = in_clusters_of(max_large_cluster_blocks);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(max_large_cluster_blocks);
    config.blockDim = dim3(threads);
    config.attrs = &size;
    config.numAttrs = 1;
    int clusters = 0;
    return cudaOccupancyMaxActiveClusters(&clusters, function, &config) == cudaSuccess && clusters > 0;
}
#else
inline constexpr bool kernels_cluster = false;

FUSEKIT_H hipError_t launch_clusters(AnyKernel kernel, dim3 grid, dim3 block, unsigned cluster, void** arguments,
                                     unsigned shared_bytes, hipStream_t stream);
template <class Params>
FUSEKIT_H bool allow_large_clusters(void (*)(Params), unsigned) {
    return false;
}
#endif

/// in_cluster(): true if split-K kernels run in clusters. cluster_barrier() synchronizes all threads of the cluster and
/// makes their writes visible; cluster_arrive() and cluster_wait() are its two halves. load_of_block() loads from
/// DSMEM, in CTA `rank` of the cluster, the packet at the same shared memory address as `own`. store_to_block() stores
/// a packet there; all CTAs of the cluster must have started, which a barrier ensures.
#if defined(HIP_ON_CPU)
__device__ inline bool in_cluster() { return hip_on_cpu::in_cluster(); }
__device__ inline void cluster_barrier() { hip_on_cpu::cluster_barrier(); }
__device__ inline void cluster_arrive() {}
__device__ inline void cluster_wait() { hip_on_cpu::cluster_barrier(); }
__device__ inline Packet<float, 4> load_of_block(Packet<float, 4> const* own, unsigned rank) {
    return *static_cast<Packet<float, 4> const*>(hip_on_cpu::shared_of_block(const_cast<Packet<float, 4>*>(own), rank));
}
__device__ inline void store_to_block(Packet<float, 4>* own, unsigned rank, Packet<float, 4> const& packet) {
    *static_cast<Packet<float, 4>*>(hip_on_cpu::shared_of_block(own, rank)) = packet;
}
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
__device__ constexpr bool in_cluster() { return kernels_cluster; }
__device__ inline void cluster_arrive() {
    __syncwarp();  // converges the warp, as .aligned requires
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
}
__device__ inline void cluster_wait() {
    __syncwarp();
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}
__device__ inline void cluster_barrier() {
    cluster_arrive();
    cluster_wait();
}
__device__ inline Packet<float, 4> load_of_block(Packet<float, 4> const* own, unsigned rank) {
    Packet<float, 4> packet;
    asm volatile(
        "{.reg .u32 there; mapa.shared::cluster.u32 there, %4, %5;\n"
        "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there];}"
        : "=f"(packet.values[0]), "=f"(packet.values[1]), "=f"(packet.values[2]), "=f"(packet.values[3])
        : "r"(static_cast<unsigned>(__cvta_generic_to_shared(own))), "r"(rank)
        : "memory");
    return packet;
}
__device__ inline void store_to_block(Packet<float, 4>* own, unsigned rank, Packet<float, 4> const& packet) {
    asm volatile(
        "{.reg .u32 there; mapa.shared::cluster.u32 there, %0, %1;\n"
        "st.shared::cluster.v4.f32 [there], {%2, %3, %4, %5};}" ::"r"(
            static_cast<unsigned>(__cvta_generic_to_shared(own))),
        "r"(rank), "f"(packet.values[0]), "f"(packet.values[1]), "f"(packet.values[2]), "f"(packet.values[3])
        : "memory");
}
#else
__device__ constexpr bool in_cluster() { return false; }
__device__ inline void cluster_barrier() {}
__device__ inline void cluster_arrive() {}
__device__ inline void cluster_wait() {}
__device__ inline Packet<float, 4> load_of_block(Packet<float, 4> const* own, unsigned) { return *own; }
__device__ inline void store_to_block(Packet<float, 4>* own, unsigned, Packet<float, 4> const& packet) {
    *own = packet;
}
#endif

}  // namespace fusekit::hip
