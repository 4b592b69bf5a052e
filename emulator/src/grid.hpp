// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>

#include "hip_on_cpu/dim3.hpp"

namespace hip_on_cpu {

/// Runs body in every thread of every block; returns when all are done. Blocks are spread over a few threads of the
/// system, in any order. Before each block its shared memory becomes NaN; a block has `shared_bytes` beside what its
/// kernel declares. May be called from several threads at once.
void run_grid(dim3 grid, dim3 block, std::size_t shared_bytes, std::function<void()> const& body);

/// Runs all blocks at once, each on a thread of its own, so that they can wait for each other.
void run_grid_at_once(dim3 grid, dim3 block, std::size_t shared_bytes, std::function<void()> const& body);

/// Runs clusters of `cluster` neighbouring blocks one after another, the blocks of one at once.
void run_clusters(dim3 grid, dim3 block, unsigned cluster, std::size_t shared_bytes, std::function<void()> const& body);

}  // namespace hip_on_cpu
