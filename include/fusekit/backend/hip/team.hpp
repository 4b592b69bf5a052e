// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>

#include "fusekit/backend/hip/arch/access.hpp"

namespace fusekit::hip {

/// Blocks of one grid that run at the same time and wait for each other.
struct Team {
    unsigned* counter;  ///< one for each team, zero before its first meeting
    unsigned members, member;

    /// Returns in every block of the team when all have called it: what they wrote before can be read after. One of
    /// them turns the counter's highest bit over when the others have added up; so the counter is ready for the next
    /// meeting, of any number, in this launch or another.
    __device__ void meet(unsigned thread) const {
        __threadfence();
        __syncthreads();
        if (thread == 0) {
            constexpr unsigned turn = 1u << 31;
            unsigned const before = atomicAdd(counter, member == 0 ? turn - (members - 1) : 1u);
            while (((*static_cast<unsigned volatile*>(counter) ^ before) & turn) == 0) __threadfence();
            __threadfence();
        }
        __syncthreads();
    }
};

/// A struct of floats that another block of the team wrote before they met.
template <class Value>
__device__ Value published(Value const* from) {
    constexpr int words = sizeof(Value) / sizeof(float);
    struct Words {
        float word[words];
    } copy;
#pragma unroll
    for (int i = 0; i < words; ++i) copy.word[i] = load_fresh(reinterpret_cast<float const*>(from) + i);
    return std::bit_cast<Value>(copy);
}

/// What teams lend from the device: counters, then room for the values that they publish.
struct Workspace {
    static constexpr std::size_t bytes = std::size_t{1} << 20, most_teams = 4096;

    void* memory = nullptr;

    __device__ unsigned* counter(unsigned team) const { return static_cast<unsigned*>(memory) + team; }
    template <class Value>
    __device__ Value* values() const {
        return reinterpret_cast<Value*>(static_cast<unsigned*>(memory) + most_teams);
    }
    template <class Value>
    static constexpr std::size_t room = (bytes - most_teams * sizeof(unsigned)) / sizeof(Value);
};

}  // namespace fusekit::hip
