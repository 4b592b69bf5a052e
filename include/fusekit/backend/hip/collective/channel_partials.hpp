// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/collective/block_sum.hpp"
#include "fusekit/backend/hip/row_gradient_params.hpp"

namespace fusekit::hip {

/// Partial totals of channels in workspace, `sets` sets of one Total per channel, and their merge in the order of the
/// sets.
template <class Plan>
struct ChannelPartials {
    using Steps = detail::RowGradientSteps<typename Plan::Head>;
    using Total = typename Steps::template Total<float>;
    static constexpr unsigned words = sizeof(Total) / sizeof(float);
    float* values;
    unsigned channels;  ///< K
    unsigned sets;

    template <class Params>
    __device__ explicit ChannelPartials(Params const& params)
        : values(params.workspace.values()), channels(params.groups * params.channels), sets(params.sets) {}

    /// Stores or, unless `first`, adds a total of channel k to set `set`. One thread of the grid calls it for a
    /// channel of a set.
    __device__ void add(unsigned set, unsigned k, Total const& total, bool first) const {
#pragma unroll
        for (unsigned word = 0; word < words; ++word) {
            float* const to = at(set, word, k);
            *to = first ? total.value[word] : *to + total.value[word];
        }
    }

    /// Stores four consecutive floats of set `set`, whose words are in the order of at().
    __device__ void store(unsigned set, unsigned packet, Packet<float, 4> const& sums) const {
        reinterpret_cast<Packet<float, 4>*>(at(set, 0, 0))[packet] = sums;
    }

    /// Stores a word of the total of channel k.
    __device__ void store(unsigned set, unsigned word, unsigned k, float value) const { *at(set, word, k) = value; }

    /// Merges the sets of all channels and saves the totals, once they are visible. All threads of `blocks` CTAs call
    /// it, `block` is this one. shared: SMEM scratch of threads * words floats.
    template <unsigned threads, class Args>
    __device__ void save_all(Args const& args, float* shared, unsigned thread, unsigned block, unsigned blocks) const {
        unsigned columns = 32;  // channels of a CTA at once; its other threads share the sets
        while (columns < threads && columns * blocks < channels) columns *= 2;
        unsigned const parts = threads / columns;
        for (unsigned first = block * columns; first < channels; first += blocks * columns) {
            unsigned const k = first + thread % columns;
            Total total{};
            if (k < channels)
#pragma unroll 4
                for (unsigned set = thread / columns; set < sets; set += parts)
#pragma unroll
                    for (unsigned word = 0; word < words; ++word)
                        total.value[word] +=
                            load_fresh(reinterpret_cast<Packet<float, 1> const*>(at(set, word, k))).values[0];
            Rows{threads, columns, thread}.sum(total.value, shared);
            if (thread < columns && k < channels) Steps::Steps::save(total, {0, std::int64_t{k}, 0, 0}, args);
        }
    }

private:
    __device__ float* at(unsigned set, unsigned word, unsigned k) const {
        return values + (std::size_t{set} * words + word) * channels + k;
    }
};

}  // namespace fusekit::hip
