// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "fiber_block.hpp"

namespace hip_on_cpu {

/// Cluster of co-resident blocks, each run by its own OS thread, with the base address of each block's shared memory.
class Cluster {
public:
    explicit Cluster(unsigned count) : blocks(count), shared(count), posted(count), over(count), idle(count) {}

    unsigned size() const { return static_cast<unsigned>(shared.size()); }

    /// Registers a block and waits until all blocks of the cluster have been registered. Called by the block's OS
    /// thread before it runs the block. `own`: base of the OS thread's thread-local memory.
    void enter(unsigned rank, FiberBlock& block, std::byte* own) {
        blocks[rank] = &block, shared[rank] = own;
        wait(nullptr);
    }
    /// Returns when all blocks of the cluster have finished, because others may still read this block's memory.
    void leave(unsigned rank);
    /// Waits until all blocks of the cluster call it; aborts if one of them has finished.
    void wait(SourceLocation const* location);

    /// Passes an operation on the shared memory of block `rank` to it: its OS thread performs operations in deliver(),
    /// which returns true if there were any. Aborts if the block has finished or, because on a GPU it may not have
    /// begun, before the first cluster barrier.
    void post(unsigned rank, std::function<void()> operation, SourceLocation const& location);
    bool deliver(unsigned rank);
    /// Waits until other blocks have posted operations to block `rank`; returns false if none can, because all other
    /// blocks wait or have finished, too. Called where none of the block's threads can go on.
    bool wait_for_operations(unsigned rank);

    /// Returns the address in the shared memory of block `rank`, dynamic or static, that corresponds to `own` in the
    /// shared memory of block `from`.
    void* shared_of(void* own, unsigned from, unsigned rank) const {
        auto* const location = static_cast<std::byte*>(own);
        std::byte* const base = blocks[from]->shared_memory();
        if (location >= base && location < base + blocks[from]->shared_bytes)
            return blocks[rank]->shared_memory() + (location - base);
        return shared[rank] + (location - shared[from]);
    }

private:
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Block*> blocks;
    std::vector<std::byte*> shared;  // base of each block's thread-local memory
    std::vector<std::vector<std::function<void()>>> posted;
    std::vector<bool> over, idle;  ///< blocks that have finished; that wait for operations
    unsigned arrived = 0, finished = 0;
    unsigned long barriers = 0;
    bool synchronized = false;  ///< all blocks have passed a cluster barrier
};

}  // namespace hip_on_cpu
