// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/cluster.hpp"

namespace fusekit::hip {

/// SMEM layout through which the CTAs of a cluster add their accumulators of an output tile: those of all threads of
/// `groups` warpgroups, in packets of four, without bank conflicts. Atom::Acc is float.
template <class Atom, int groups>
struct AccumulatorExchange {
    using Packet4 = Packet<float, 4>;
    using Accumulators = typename Atom::Accumulators;
    static constexpr int packets = Atom::acc_per_thread / 4, loads_in_flight = packets % 8 == 0 ? 8 : 4;
    static_assert(packets % loads_in_flight == 0);

    Packet4 packets_of[groups][packets][Atom::threads];

    /// Stores a thread's accumulators, for the other CTAs of the cluster.
    __device__ void put(unsigned group, unsigned thread, Accumulators const& acc) {
#pragma unroll
        for (int i = 0; i < packets; ++i)
            packets_of[group][i][thread] = {acc[4 * i], acc[4 * i + 1], acc[4 * i + 2], acc[4 * i + 3]};
    }
    /// Adds the accumulators that the same thread of CTA `rank` of the cluster has stored. Issues several DSMEM
    /// loads before the first addition.
    __device__ void add_from(unsigned rank, unsigned group, unsigned thread, Accumulators& acc) const {
#pragma unroll
        for (int first = 0; first < packets; first += loads_in_flight) {
            Packet4 theirs[loads_in_flight];
#pragma unroll
            for (int i = 0; i < loads_in_flight; ++i)
                theirs[i] = load_of_block(&packets_of[group][first + i][thread], rank);
#pragma unroll
            for (int i = 0; i < loads_in_flight; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) acc[4 * (first + i) + j] += theirs[i].values[j];
        }
    }
};

}  // namespace fusekit::hip
