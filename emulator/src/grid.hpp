// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>

#include "hip_on_cpu/dim3.hpp"

namespace hip_on_cpu {

/// Runs body in every thread of every block, and returns when all are done. Blocks run on a few OS threads, in any
/// order. Before each block its shared memory is filled with NaN; a block has `shared_bytes` of dynamic shared memory.
/// Thread-safe.
void run_grid(dim3 grid, dim3 block, std::size_t shared_bytes, std::function<void()> const& body);

/// Runs all blocks concurrently, one OS thread each, so that they can synchronize.
void run_grid_concurrently(dim3 grid, dim3 block, std::size_t shared_bytes, std::function<void()> const& body);

/// Runs clusters of `cluster` consecutive blocks one after another; the blocks of a cluster run concurrently.
void run_clusters(dim3 grid, dim3 block, unsigned cluster, std::size_t shared_bytes, std::function<void()> const& body);

}  // namespace hip_on_cpu
