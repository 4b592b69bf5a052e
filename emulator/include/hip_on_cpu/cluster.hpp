// SPDX-License-Identifier: MIT
#pragma once

#include "hip_on_cpu/block.hpp"

/// Thread block clusters of compute capability 9.0: the blocks of a cluster are co-resident, can synchronize, and can
/// access each other's shared memory (DSMEM). Source: NVIDIA, CUDA C++ Programming Guide, "Thread Block Clusters" and
/// "Distributed Shared Memory".
namespace hip_on_cpu {

/// Maximum size of a cluster, in blocks, of kernels with cudaFuncAttributeNonPortableClusterSizeAllowed. The portable
/// maximum is 8.
inline constexpr unsigned max_cluster_blocks = 16;

/// in_cluster(): true if the block is in a cluster. cluster_rank(), cluster_size(): its rank in the cluster and the
/// number of the cluster's blocks; 0 and 1 without a cluster.
bool in_cluster();
unsigned cluster_rank();
unsigned cluster_size();

/// barrier.cluster: synchronizes all threads of all blocks of a cluster. Aborts the program if a block has finished
/// without calling it.
void cluster_barrier(SourceLocation location = SourceLocation::current());

/// mapa: returns the address in the shared memory of block `rank` that corresponds to `own` in this block's. The shared
/// memory of a finished block is NaN.
void* shared_of_block(void* own, unsigned rank);

}  // namespace hip_on_cpu
