// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "fusekit/backend/hip/arch/sm90a.hpp"

namespace fusekit::hip {

/// View of an array in global memory through which the CTAs of one kernel exchange per-channel statistics (a Total: for
/// example count, mean and squared deviations): one Total for each output tile and channel. Each 32-bit word is its own
/// ready flag: clear() sets it to a NaN that put() never writes. So a CTA reads another CTA's Totals without a fence or
/// a separate flag.
template <class Total>
struct ChannelTotalsView {
    static constexpr unsigned words = sizeof(Total) / sizeof(float);
    unsigned* first;
    unsigned channels;

    __device__ void clear(unsigned tile, unsigned k) const {
#pragma unroll
        for (unsigned word = 0; word < words; ++word) ptx::st_relaxed(at(tile, k) + word, not_put);
    }
    __device__ void put(unsigned tile, unsigned k, Total const& total) const {
#pragma unroll
        for (unsigned word = 0; word < words; ++word) {
            unsigned const bits = reinterpret_cast<unsigned const*>(&total)[word];
            ptx::st_relaxed(at(tile, k) + word, bits == not_put ? other_nan : bits);
        }
    }
    /// Loads the statistics (a Total each) of channel k of the output tiles number_of(0), ..., number_of(Count - 1)
    /// into `totals`, with all loads in flight. If `waits`, repeats the loads until put() has written all Count of
    /// them.
    template <unsigned Count, class NumberOf>
    __device__ void get(Total (&totals)[Count], unsigned k, bool waits, NumberOf const& number_of) const {
        bool all_ready = false;
#pragma unroll 1
        while (!all_ready) {
            all_ready = true;
#pragma unroll
            for (unsigned i = 0; i < Count; ++i)
#pragma unroll
                for (unsigned word = 0; word < words; ++word) {
                    unsigned const bits = ptx::ld_relaxed(at(number_of(i), k) + word);
                    reinterpret_cast<unsigned*>(&totals[i])[word] = bits;
                    all_ready &= bits != not_put;
                }
            all_ready |= !waits;
        }
    }

private:
    static constexpr unsigned not_put = 0xffffffff, other_nan = 0x7fffffff;

    __device__ unsigned* at(unsigned tile, unsigned k) const {
        return first + (std::size_t{tile} * channels + k) * words;
    }
};

}  // namespace fusekit::hip
