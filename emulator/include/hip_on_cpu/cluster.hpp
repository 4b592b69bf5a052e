// SPDX-License-Identifier: MIT
#pragma once

#include "hip_on_cpu/block.hpp"

/// What compute capability 9.0 adds beside sm_90a's instructions: clusters of neighbouring blocks, which run at once,
/// wait for each other and read each other's shared memory. Source: NVIDIA, CUDA C++ Programming Guide, "Thread Block
/// Clusters" and "Distributed Shared Memory".
namespace hip_on_cpu {

/// Most blocks of a cluster that every device takes.
inline constexpr unsigned most_cluster_blocks = 8;

/// Whether the block is one of a cluster, its number there, and how many they are: 0 and 1 where it is none.
bool in_cluster();
unsigned cluster_rank();
unsigned cluster_size();

/// Called by all threads of all of a cluster's blocks. The program ends where a block has finished without it.
void cluster_barrier(Place place = Place::current());

/// Where what lies at `own` in this block's shared memory lies in another block's. Once a block has finished its
/// shared memory is NaN.
void* shared_of_block(void* own, unsigned rank);

}  // namespace hip_on_cpu
