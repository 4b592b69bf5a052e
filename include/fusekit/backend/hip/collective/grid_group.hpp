// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/backend/hip/runtime/stream.hpp"

namespace fusekit::hip {

/// Functor that synchronizes all threads of a CTA. Functions that only some warps of a CTA call receive a NamedBarrier
/// instead.
struct BlockBarrier {
    __device__ void operator()() const { __syncthreads(); }
};

/// Adds 1 to the counter `arrived`, in global memory, once all threads of this CTA (or of the warps that `barrier`
/// synchronizes) have called this function. Returns true in all threads of the last of `group_size` CTAs to arrive;
/// they may then read everything that the other CTAs wrote before their calls. `is_last` is a flag in SMEM through
/// which thread 0 broadcasts the result.
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

/// Barrier over a subset of a grid's CTAs, a grid group. Precondition: the CTAs are co-resident.
class GridGroup {
public:
    /// Counters of the barrier of one grid group, in global memory; zero before the first barrier. Each barrier resets
    /// them for the next one, in this launch or another.
    struct State {
        unsigned arrived, generation;
    };

    __device__ GridGroup(State* the_state, unsigned the_group_size, unsigned the_thread, bool& the_is_last)
        : state(the_state), group_size(the_group_size), thread(the_thread), is_last(the_is_last) {}

    /// Synchronizes the group's CTAs. All threads of every CTA call it. The last CTA to arrive calls `finalize`, which
    /// may read everything that the group's CTAs wrote before they arrived. The other CTAs return after `finalize` and
    /// may read what it wrote.
    template <class Finalize>
    __device__ void arrive_and_wait(Finalize const& finalize) const {
        unsigned const old_generation = thread == 0 ? load(&state->generation) : 0;
        bool const last = is_last_block(&state->arrived, group_size, thread, is_last);
        if (last) finalize();
        __syncthreads();
        if (thread == 0) {
            if (last) {
                state->arrived = 0;
                __threadfence();
                atomicAdd(&state->generation, 1u);
            }
            while (load(&state->generation) == old_generation) __threadfence();
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

/// Sequence of the CTAs of a grid group, in the order of their indices in the group. Precondition: the GPU starts a CTA
/// after those before it. Thread 0 of a CTA reads and writes the state, whose counter is zero before the first CTA.
class GroupTurn {
public:
    __device__ GroupTurn(GridGroup::State* the_state, unsigned the_thread) : state(the_state), thread(the_thread) {}

    /// Waits until `index` CTAs have called pass(); memory that they wrote before is then visible. All threads of
    /// `barrier` call it.
    template <class Barrier>
    __device__ void wait(unsigned index, Barrier const& barrier) const {
        if (thread == 0 && index > 0) {
            while (*static_cast<unsigned const volatile*>(&state->arrived) != index) __threadfence();
            __threadfence();
        }
        barrier();
    }
    /// Starts CTA `next`; 0 resets the counter.
    template <class Barrier>
    __device__ void pass(unsigned next, Barrier const& barrier) const {
        barrier();
        if (thread != 0) return;
        __threadfence();
        *static_cast<unsigned volatile*>(&state->arrived) = next;
    }

private:
    GridGroup::State* state;
    unsigned thread;
};

/// Workspace in global memory for grid groups (GridGroup): first the barrier counters (State) of all groups, then
/// floats that CTAs exchange. The caller zeroes all bytes before the first kernel. Every kernel resets the counters for
/// the next kernel, of any plan.
struct GroupWorkspace {
    static constexpr std::size_t max_grid_groups = 2048, state_bytes = max_grid_groups * sizeof(GridGroup::State);
    static constexpr std::size_t floats = (max_workspace_bytes - state_bytes) / sizeof(float);

    void* memory = nullptr;

    __device__ GridGroup::State* state(unsigned grid_group) const {
        return static_cast<GridGroup::State*>(memory) + grid_group;
    }
    __device__ float* values() const { return reinterpret_cast<float*>(state(max_grid_groups)); }
};

}  // namespace fusekit::hip
