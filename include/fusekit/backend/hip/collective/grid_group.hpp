// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/backend/hip/runtime/stream.hpp"

namespace fusekit::hip {

/// The barrier of a block's threads. A part of a block has a barrier of its own.
struct BlockBarrier {
    __device__ void operator()() const { __syncthreads(); }
};

/// Whether this block is the last of `group_size` blocks, or parts of blocks, to call this, with all their threads:
/// then it can read what the others wrote before. `is_last` is in shared memory.
template <class Barrier = BlockBarrier>
__device__ inline bool is_last_block(unsigned* arrived, unsigned group_size, unsigned thread, bool& is_last,
                                     Barrier const& barrier = {}) {
    barrier();
    if (thread == 0) {
        __threadfence();
        is_last = atomicAdd(arrived, 1u) == group_size - 1;
        __threadfence();
    }
    barrier();
    return is_last;
}

/// Blocks of one grid that run at the same time and wait for each other: a barrier over some of a grid.
class GridGroup {
public:
    /// A grid group's state, in the device's memory; zero before its first barrier. Each barrier leaves it ready for
    /// the next, in this launch or another.
    struct State {
        unsigned arrived, generation;
    };

    __device__ GridGroup(State* the_state, unsigned the_group_size, unsigned the_thread, bool& the_is_last)
        : state(the_state), group_size(the_group_size), thread(the_thread), is_last(the_is_last) {}

    /// Called by all threads of every block of the grid group. The block that arrives last calls `finalize`, and can
    /// read what the others wrote before they arrived; the others return after `finalize`, and can read what it wrote.
    /// `is_last` is in shared memory.
    template <class Finalize>
    __device__ void arrive_and_wait(Finalize const& finalize) const {
        unsigned const before = thread == 0 ? load(&state->generation) : 0;
        bool const last = is_last_block(&state->arrived, group_size, thread, is_last);
        if (last) finalize();
        __syncthreads();
        if (thread == 0) {
            if (last) {
                state->arrived = 0;
                __threadfence();
                atomicAdd(&state->generation, 1u);
            }
            while (load(&state->generation) == before) __threadfence();
            __threadfence();
        }
        __syncthreads();
    }

private:
    State* state;
    unsigned group_size, thread;
    bool& is_last;

    __device__ static unsigned load(unsigned const* value) { return *static_cast<unsigned const volatile*>(value); }
};

/// What grid groups borrow: their states, then room for floats that they exchange. All bytes are zero at first. Every
/// kernel leaves states ready for the next, of any plan, because states always lie in the first bytes.
struct GroupWorkspace {
    static constexpr std::size_t most_grid_groups = 2048, state_bytes = most_grid_groups * sizeof(GridGroup::State);
    static constexpr std::size_t floats = (most_workspace_bytes - state_bytes) / sizeof(float);

    void* memory = nullptr;

    __device__ GridGroup::State* state(unsigned grid_group) const {
        return static_cast<GridGroup::State*>(memory) + grid_group;
    }
    __device__ float* values() const { return reinterpret_cast<float*>(state(most_grid_groups)); }
};

}  // namespace fusekit::hip
