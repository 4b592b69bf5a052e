// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/collective/block_sum.hpp"

namespace fusekit::hip {

/// Totals in device memory that the CTAs of a grid group (grid_group.hpp) exchange for one channel, or for one range of
/// columns. Entry 0 has the totals of the whole group; entry i + 1 those of CTA i. An entry stores the first 32-bit
/// word of all columns' totals, then the second word of all, and so on, so that adjacent columns are read by one
/// vectorized access.
template <class Total>
struct GridGroupTotals {
    static constexpr int words = sizeof(Total) / sizeof(float), merge_unroll = arch::Target::processor.merge_unroll;
    float* first;
    unsigned columns;

    template <int Count>
    __device__ __forceinline__ void put(unsigned number, unsigned column, Total const (&totals)[Count]) const {
#pragma unroll
        for (int word = 0; word < words; ++word) {
            Packet<float, Count> packet;
#pragma unroll
            for (int i = 0; i < Count; ++i) packet.values[i] = reinterpret_cast<float const*>(&totals[i])[word];
            *at<Count>(number, column, word) = packet;
        }
    }
    template <int Count>
    __device__ __forceinline__ void get(unsigned number, unsigned column, Total (&totals)[Count]) const {
#pragma unroll
        for (int word = 0; word < words; ++word) {
            auto const packet = load_fresh(at<Count>(number, column, word));
#pragma unroll
            for (int i = 0; i < Count; ++i) reinterpret_cast<float*>(&totals[i])[word] = packet.values[i];
        }
    }

    /// Merges the totals of all CTAs into entry 0. Called by all threads of one CTA; a thread merges Width adjacent
    /// columns of some CTAs, and `shared` is scratch for Rows::sum().
    template <int Width>
    __device__ __forceinline__ void merge_all(unsigned group_size, unsigned threads, unsigned thread,
                                              float* shared) const {
        unsigned const whole = columns / Width, packets = whole < threads ? whole : threads, rows = threads / packets;
        for (unsigned packet = thread % packets; packet * Width < columns; packet += packets) {
            Total all[Width] = {};
#pragma unroll merge_unroll
            for (unsigned part = thread / packets; part < group_size; part += rows) {
                Total theirs[Width];
                get(part + 1, packet * Width, theirs);
#pragma unroll
                for (int i = 0; i < Width; ++i) all[i] = merge(all[i], theirs[i]);
            }
            Total::combine(all, [&](auto& values) { Rows{threads, packets, thread}.sum(values, shared); });
            if (thread < packets) put(0, packet * Width, all);
        }
    }

private:
    template <int Count>
    __device__ __forceinline__ Packet<float, Count>* at(unsigned number, unsigned column, int word) const {
        return reinterpret_cast<Packet<float, Count>*>(
            first + (number * words + static_cast<unsigned>(word)) * columns + column);
    }
};

}  // namespace fusekit::hip
