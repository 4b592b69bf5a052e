// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"

namespace fusekit::hip {

/// A lane's filters of a step in a TapOrder, as an atom multiplies them: loaded to its registers, without shared
/// memory. Steps have two sets of registers in turns. In the place of filters behind the last one, that one is loaded.
template <class W, class Atom, class Order>
class OperandFilters {
    using Filters = typename Atom::Filters;
    static constexpr int chunks = Filters::chunks, filters = Filters::filters;

public:
    template <class Problem>
    __device__ OperandFilters(unsigned thread, Problem const& conv, int first_filter, int group)
        : atom(thread),
          of_channel(static_cast<std::uint32_t>(conv.w.layout.stride[1]) * std::uint32_t{sizeof(W)}),
          buffer(conv.weight_row(first_filter, group).first) {
#pragma unroll
        for (int i = 0; i < filters; ++i)
            rows[i] = buffer.offset(conv.weight_row(first_filter + static_cast<int>(atom.filter(i)), group).first);
    }

    /// From a step's channels to the next step's, in bytes.
    __device__ std::uint32_t stride() const { return Order::channels * of_channel; }
    /// Takes the offsets of a step.
    template <class Offsets>
    __device__ void find(Offsets const& offsets) {
#pragma unroll
        for (int chunk = 0; chunk < chunks; ++chunk)
#pragma unroll
            for (int i = 0; i < filters; ++i)
                own[chunk][i] = rows[i] + offsets.w_at(0, atom.first_k(static_cast<unsigned>(chunk)));
    }
    /// Loads that step, or one whose channels lie `further` bytes on.
    template <int turn>
    __device__ void load(std::uint32_t further) {
#pragma unroll
        for (int chunk = 0; chunk < chunks; ++chunk)
#pragma unroll
            for (int i = 0; i < filters; ++i)
                sets[turn].words[chunk][i] = buffer.template load<Words<4>>(own[chunk][i], further);
    }
    /// Waits for a turn's loads.
    template <int turn>
    __device__ void wait() {
        wait_for(sets[turn].words[chunks - 1][filters - 1]);
    }
    template <int turn>
    __device__ Filters const& get() const {
        return sets[turn];
    }
    /// Copies the second set to the first.
    __device__ void turn_over() { sets[0] = sets[1]; }

private:
    Atom atom;
    std::uint32_t of_channel;
    Buffer buffer;
    std::uint32_t rows[filters], own[chunks][filters];
    Filters sets[2];
};

}  // namespace fusekit::hip
