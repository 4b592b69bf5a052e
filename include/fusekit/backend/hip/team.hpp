// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "fusekit/backend/hip/platform.hpp"

namespace fusekit::hip {

/// Whether this block is the last of `members` that call this, with all their threads: then it can read what the others
/// wrote before. `is_last` is shared by the block.
__device__ inline bool comes_last(unsigned* arrived, unsigned members, unsigned thread, bool& is_last) {
    __syncthreads();
    if (thread == 0) {
        __threadfence();
        is_last = atomicAdd(arrived, 1u) == members - 1;
        __threadfence();
    }
    __syncthreads();
    return is_last;
}

/// Blocks of one grid that run at the same time and wait for each other.
class Team {
public:
    /// Of a team, in the device's memory; zero before its first meeting, and ready for the next after each, be it in
    /// this launch or another.
    struct State {
        unsigned arrived, meetings;
    };

    __device__ Team(State* the_state, unsigned the_members, unsigned the_thread, bool& the_is_last)
        : state(the_state), members(the_members), thread(the_thread), is_last(the_is_last) {}

    /// Called by all threads of every block of the team. The block that comes last calls `conclude`, and can read what
    /// the others wrote before they came; they return when it has, and can read what it wrote. `is_last` is shared by
    /// the block.
    template <class Conclude>
    __device__ void meet(Conclude const& conclude) const {
        unsigned const meeting = thread == 0 ? seen(&state->meetings) : 0;
        bool const last = comes_last(&state->arrived, members, thread, is_last);
        if (last) conclude();
        __syncthreads();
        if (thread == 0) {
            if (last) {
                state->arrived = 0;
                __threadfence();
                atomicAdd(&state->meetings, 1u);
            }
            while (seen(&state->meetings) == meeting) __threadfence();
            __threadfence();
        }
        __syncthreads();
    }

private:
    State* state;
    unsigned members, thread;
    bool& is_last;

    __device__ static unsigned seen(unsigned const* value) { return *static_cast<unsigned const volatile*>(value); }
};

/// What teams lend from the device: their states, then room for floats that they exchange.
struct Workspace {
    static constexpr std::size_t bytes = std::size_t{1} << 20, most_teams = 2048;
    static constexpr std::size_t floats = (bytes - most_teams * sizeof(Team::State)) / sizeof(float);

    void* memory = nullptr;

    __device__ Team::State* state(unsigned team) const { return static_cast<Team::State*>(memory) + team; }
    __device__ float* values() const { return reinterpret_cast<float*>(state(most_teams)); }
};

}  // namespace fusekit::hip
