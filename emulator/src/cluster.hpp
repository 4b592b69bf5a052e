// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

#include "fiber_block.hpp"

namespace hip_on_cpu {

/// Co-resident blocks, each on its own OS thread, with the base address of each block's shared memory.
class Cluster {
public:
    explicit Cluster(unsigned count) : blocks(count), shared(count) {}

    unsigned size() const { return static_cast<unsigned>(shared.size()); }

    /// Called by a block's thread before it runs the block: a barrier among the cluster's threads.
    void enter(unsigned rank, FiberBlock& block, std::byte* own) {
        blocks[rank] = &block, shared[rank] = own;
        wait(nullptr);
    }
    /// Returns when all blocks have finished, because others may still read this block's memory.
    void leave();
    /// Barrier among all blocks; aborts if one has finished.
    void wait(SourceLocation const* location);

    /// Address in block `rank` that corresponds to `own` in block `from`, in dynamic or static shared memory.
    void* shared_of(void* own, unsigned from, unsigned rank) const {
        auto* const location = static_cast<std::byte*>(own);
        std::byte* const asked = blocks[from]->shared_memory();
        if (location >= asked && location < asked + blocks[from]->shared_bytes)
            return blocks[rank]->shared_memory() + (location - asked);
        return shared[rank] + (location - shared[from]);
    }

private:
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Block*> blocks;
    std::vector<std::byte*> shared;  // base of each block's thread-local memory
    unsigned arrived = 0, finished = 0;
    unsigned long barriers = 0;
};

}  // namespace hip_on_cpu
