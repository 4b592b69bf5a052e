// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/add_from_cluster.hpp"

namespace fusekit::hip {

/// SMEM layout through which the CTAs of a cluster add their accumulators of an output tile: those of all threads of
/// `groups` warpgroups, in packets of four, without bank conflicts. Atom::Acc is float.
template <class Atom, int groups>
struct AccumulatorExchange {
    using Packet4 = Packet<float, 4>;
    using Accumulators = typename Atom::Accumulators;
    static constexpr int packets = Atom::acc_per_thread / 4;
    /// number of accumulators that a thread loads at once
    static constexpr int floats = packets % 8 == 0 ? 32 : 16;
    static_assert(Atom::acc_per_thread % floats == 0);

    Packet4 packets_of[groups][packets][Atom::threads];

    /// Stores a thread's accumulators, for the other CTAs of the cluster.
    __device__ void put(unsigned group, unsigned thread, Accumulators const& acc) {
#pragma unroll
        for (int i = 0; i < packets; ++i)
            packets_of[group][i][thread] = {acc[4 * i], acc[4 * i + 1], acc[4 * i + 2], acc[4 * i + 3]};
    }
    /// Adds the accumulators that the same thread of the CTAs `rank` ^ 1 to `rank` ^ (`count` - 1) of the cluster has
    /// stored, in this order. `count` is a power of two; with `count` <= 1 nothing is added.
    __device__ void add_others(unsigned rank, unsigned count, unsigned group, unsigned thread,
                               Accumulators& acc) const {
        add_from<0>(rank, count, group, thread, acc);
    }

private:
    template <int first>
    __device__ void add_from(unsigned rank, unsigned count, unsigned group, unsigned thread, Accumulators& acc) const {
        if constexpr (first < Atom::acc_per_thread) {
            add_from_cluster<floats, first, static_cast<int>(sizeof(Packet4)) * Atom::threads>(
                acc, &packets_of[group][first / 4][thread], rank, count);
            add_from<first + floats>(rank, count, group, thread, acc);
        }
    }
};

}  // namespace fusekit::hip
