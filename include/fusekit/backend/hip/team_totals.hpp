// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"

namespace fusekit::hip {

/// Totals that the blocks of a team exchange in the device's memory, number 0 those of the whole unit, others those of
/// a block each: every float of a total of all columns, then the next float. The `own` columns of a thread, which are
/// `column` of as many packs as a tile has, are one access.
template <class Total, int own>
struct TeamTotals {
    static constexpr int words = sizeof(Total) / sizeof(float);
    float* first;
    unsigned tile, column;

    __device__ __forceinline__ void put(unsigned number, Total const (&totals)[own]) const {
#pragma unroll
        for (int word = 0; word < words; ++word) {
            Packet<float, own> packet;
#pragma unroll
            for (int i = 0; i < own; ++i) packet.values[i] = reinterpret_cast<float const*>(&totals[i])[word];
            *at(number, word) = packet;
        }
    }
    __device__ __forceinline__ void get(unsigned number, Total (&totals)[own]) const {
#pragma unroll
        for (int word = 0; word < words; ++word) {
            auto const packet = load_fresh(at(number, word));
#pragma unroll
            for (int i = 0; i < own; ++i) reinterpret_cast<float*>(&totals[i])[word] = packet.values[i];
        }
    }

private:
    __device__ __forceinline__ Packet<float, own>* at(unsigned number, int word) const {
        return reinterpret_cast<Packet<float, own>*>(first + ((number * words + word) * tile + column) * own);
    }
};

}  // namespace fusekit::hip
