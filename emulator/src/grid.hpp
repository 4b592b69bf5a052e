// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>

#include "hip_on_cpu/dim3.hpp"

namespace hip_on_cpu {

/// Runs `body` in every thread of every block, and returns when all have finished. Blocks run on up to four OS threads,
/// in any order. Each block has `shared_bytes` bytes of dynamic shared memory; its shared memory is filled with NaN
/// first. Thread-safe.
void run_grid(dim3 grid, dim3 block, std::size_t shared_bytes, std::function<void()> const& body);

/// Like run_grid(), but runs all blocks concurrently, one OS thread each, so that they can synchronize.
void run_grid_concurrently(dim3 grid, dim3 block, std::size_t shared_bytes, std::function<void()> const& body);

/// Like run_grid(), but runs clusters of `cluster` consecutive blocks one after another; the blocks of a cluster run
/// concurrently.
void run_clusters(dim3 grid, dim3 block, unsigned cluster, std::size_t shared_bytes, std::function<void()> const& body);

}  // namespace hip_on_cpu
