// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/backend/hip/runtime/stream.hpp"

namespace fusekit::hip {

/// Barrier of a CTA's threads. A part of a CTA has its own barrier.
struct BlockBarrier {
    __device__ void operator()() const { __syncthreads(); }
};

/// Returns true in the last of `group_size` CTAs, or parts of CTAs, to call this with all threads; it can then read
/// what the others wrote before. `is_last` is in SMEM.
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

/// Co-resident CTAs of one grid with a barrier: a grid barrier over a subset of the CTAs.
class GridGroup {
public:
    /// State of a grid group in device memory; zero before its first barrier. Each barrier resets it for the next, in
    /// this launch or another.
    struct State {
        unsigned arrived, generation;
    };

    __device__ GridGroup(State* the_state, unsigned the_group_size, unsigned the_thread, bool& the_is_last)
        : state(the_state), group_size(the_group_size), thread(the_thread), is_last(the_is_last) {}

    /// Called by all threads of every CTA of the group. The last CTA to arrive calls `finalize` and can read what the
    /// others wrote before they arrived; the others return after `finalize` and can read what it wrote. `is_last` is in
    /// SMEM.
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

/// Workspace of grid groups: their states, then floats that they exchange. All bytes are zero at first. Every kernel
/// resets the states for the next kernel of any plan; states are always the first bytes.
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
