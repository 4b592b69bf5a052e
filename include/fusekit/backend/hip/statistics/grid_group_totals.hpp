// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/target.hpp"
#include "fusekit/backend/hip/collective/block_sum.hpp"

namespace fusekit::hip {

/// Array in global memory of per-column statistics (a Total each) that the CTAs of a grid group (the CTAs that
/// cooperate on one reduction, grid_group.hpp) exchange. Row 0 has the Totals of the whole group, row i + 1 those of
/// CTA i. A row stores the first 32-bit word of all columns' Totals, then the second word of all columns', and so on,
/// so that one vectorized access reads adjacent columns.
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

    /// Merges the per-column statistics (Totals) of all `group_size` CTAs into row 0. All `threads` threads of one CTA
    /// call it with their index `thread`. A thread merges Width adjacent columns of every rows-th CTA; Rows::sum() then
    /// reduces over the threads of a column, with `shared` as its SMEM scratch.
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
