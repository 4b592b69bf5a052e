// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

#include "fiber_block.hpp"

namespace hip_on_cpu {

/// Blocks that run at once, each on a thread of the system, and where each one's shared memory lies.
class Cluster {
public:
    explicit Cluster(unsigned count) : blocks(count), shared(count) {}

    unsigned size() const { return static_cast<unsigned>(shared.size()); }

    /// Called by a block's thread before it runs the block: returns when all have called it.
    void enter(unsigned rank, FiberBlock& block, std::byte* own) {
        blocks[rank] = &block, shared[rank] = own;
        wait(nullptr);
    }
    /// Called after that: returns when all blocks have finished, because others may still read this one's memory.
    void leave();
    /// Returns when all blocks have called it, or ends the program where one has finished.
    void wait(Place const* place);

    /// Where block `rank` has what lies at `own` in block `from`: in what the launch asked for, or what a kernel
    /// declares.
    void* shared_of(void* own, unsigned from, unsigned rank) const {
        auto* const place = static_cast<std::byte*>(own);
        std::byte* const asked = blocks[from]->shared_memory();
        if (place >= asked && place < asked + blocks[from]->shared_bytes)
            return blocks[rank]->shared_memory() + (place - asked);
        return shared[rank] + (place - shared[from]);
    }

private:
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Block*> blocks;
    std::vector<std::byte*> shared;  // where each block's thread-local memory begins
    unsigned arrived = 0, finished = 0;
    unsigned long barriers = 0;
};

}  // namespace hip_on_cpu
