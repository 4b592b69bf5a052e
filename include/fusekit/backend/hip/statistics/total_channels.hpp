// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/statistics/channel_totals_view.hpp"
#include "fusekit/ops/batch_norm/moments.hpp"

namespace fusekit::hip {

/// The pixels that a thread has among the N pixels of an MMA whose columns are pixels, as masks with one bit for each
/// of them.
template <class Atom>
class ThreadPixels {
    static constexpr int pixels = Atom::n / 4;
    static_assert(pixels <= 64, "a thread's pixels are bits");

public:
    __device__ explicit ThreadPixels(unsigned thread) : first(Atom::column(static_cast<int>(thread), 0)) {}

    /// True if the mask `these` has the bit of the thread's pixel whose index in the tile is `pixel`.
    __device__ static bool has(std::uint64_t these, int pixel) {
        return (these >> (pixel / 8 * 2 + pixel % 2) & 1) != 0;
    }

    /// Mask of the thread's pixels that are among the first `end` pixels of the tile.
    __device__ std::uint64_t mask_below(int end) const {
        if (end >= Atom::n) return ~std::uint64_t{0} >> (64 - pixels);
        int const of_block = end % 8 - first;
        return (std::uint64_t{1} << (end / 8 * 2 + (of_block < 0 ? 0 : of_block < 2 ? of_block : 2))) - 1;
    }
    /// Mask of the thread's pixels that are in bounds of y, for a tile that consists of rows of y with gaps between
    /// them (HaloShape); y has `width` columns.
    template <class Shape>
    __device__ std::uint64_t in_rows(Shape const& shape, int width) const {
        std::uint64_t all = 0;
        int q = first, remaining = shape.rows * shape.pitch - q;
#pragma unroll 1
        for (int i = 0; i < pixels; ++i) {
            int const step = i % 2 == 0 ? 1 : 7;  // distance to the thread's next pixel
            while (q >= shape.pitch) q -= shape.pitch;
            if (q < width && remaining > 0) all |= std::uint64_t{1} << i;
            q += step;
            remaining -= step;
        }
        return all;
    }

private:
    int first;
};

/// Channel statistics of a warpgroup's accumulators, which are of `products` MMAs of 64 channels, with pixels as
/// columns. A thread accumulates, in registers and over several tiles, the values at its pixels, for its two channels
/// per MMA. Empty if the plan has no statistics.
template <class Plan, class Atom, int products = 1>
struct TotalChannels {};

template <class Plan, class Atom, int products>
    requires(Plan::totals_tiles)
class TotalChannels<Plan, Atom, products> {
    using Op = typename detail::Collector<typename Plan::Epilogue>::Op;
    using Values = float[Atom::acc_per_thread];
    /// pixels per MMA, and channels in total, of a thread
    static constexpr int pixels = Atom::n / 4, channels = 2 * products;

public:
    using Total = typename Op::template Total<float>;

    /// Adds a tile's values, `of_tile` (those that the statistics operator received), at the thread's pixels in the
    /// mask `counted`. The tile's first pixel is always counted. Values that are not counted are overwritten.
    __device__ void add(Values (&of_tile)[products], std::uint64_t counted, unsigned thread) {
        auto const counts = [&](int i) { return (counted >> i & 1) != 0; };
        auto const here = static_cast<float>(__popcll(counted)), merged_count = count + here;
        // 1 / count of this tile, and this tile's fraction of the total count: computed once, because all channels
        // share them.
        float const inverse = 1 / fusekit::detail::Moments<float>::at_least_one(here),
                    share = here / fusekit::detail::Moments<float>::at_least_one(merged_count);
        auto const value = [&](int channel, int i) -> float& {
            return of_tile[channel / 2][i / 2 * 4 + 2 * (channel % 2) + i % 2];
        };
        [[maybe_unused]] float first[channels];
        if constexpr (are_moments) {
#pragma unroll
            for (int channel = 0; channel < channels; ++channel)
                first[channel] = of_first_lane(value(channel, 0), thread);
            if (counted != ~std::uint64_t{0} >> (64 - pixels))
#pragma unroll
                for (int i = 0; i < pixels; ++i)
                    if (!counts(i))
#pragma unroll
                        for (int channel = 0; channel < channels; ++channel)
                            value(channel, i) = first[channel];  // adds nothing to deviations from `first`
        }
#pragma unroll
        for (int channel = 0; channel < channels; ++channel) {
            Total& total = totals[channel];
            Accumulator accumulator;
            if constexpr (are_moments) {
                accumulator.start(first[channel]);
#pragma unroll
                for (int i = 0; i < pixels; ++i) accumulator.add(value(channel, i));
                total = merge({count, total.mean, total.deviations}, accumulator.total(here, inverse), share);
            } else {
#pragma unroll
                for (int i = 0; i < pixels; ++i) accumulator.add(value(channel, i), counts(i));
                Total const next = accumulator.total(here);
                total = count > 0 ? merge(total, next) : next;
            }
        }
        count = merged_count;
    }

    /// Merges the totals of a warp's lanes, writes the totals of the channels in bounds, from channel `first` of y on,
    /// to entry `tile` of `to`, and resets them. All lanes call it, after at least one add(). Four lanes have the same
    /// channels; each of them merges and writes some of these channels.
    __device__ void put(ChannelTotalsView<Total> const& to, unsigned tile, int first, unsigned thread) {
        unsigned number = 0;  // index, among the thread's `channels` channels, of the one that this lane writes
#pragma unroll
        for (unsigned step = 0, remaining = channels; step < 2; ++step) {
            unsigned const mask = 1 + step, upper = thread >> step & 1;
            float const theirs = of_lane_xor(count, mask);
            count += theirs;
            float const share = theirs / fusekit::detail::Moments<float>::at_least_one(count);
            auto const merged = [&](Total const& mine, Total const& given) {
                if constexpr (are_moments)
                    return merge(mine, {theirs, of_lane_xor(given.mean, mask), of_lane_xor(given.deviations, mask)},
                                 share);
                else return merge(mine, floats_of_lane_xor(given, mask));
            };
            if (remaining == 1) {
                totals[0] = merged(totals[0], totals[0]);
                continue;
            }
            remaining /= 2;
            number += upper * remaining;
#pragma unroll
            for (unsigned i = 0; i < remaining; ++i) {
                Total const low = totals[i], high = totals[remaining + i];
                totals[i] = merged(one_of(upper == 0, low, high), one_of(upper == 0, high, low));
            }
        }
        auto const k = static_cast<unsigned>(first + static_cast<int>(number / 2) * Atom::m +
                                             Atom::row(static_cast<int>(thread), 2 * static_cast<int>(number % 2)));
        if ((channels > 2 || thread % 4 < 2) && k < to.channels) to.put(tile, k, totals[0]);
        for (Total& total : totals) total = {};
        count = 0;
    }

private:
    /// Moments are accumulated as differences from one of the values (Accumulator::start()); the accumulators of other
    /// statistics operators need no such value.
    static constexpr bool are_moments = std::is_same_v<Total, fusekit::detail::Moments<float>>;
    using Accumulator = std::conditional_t<are_moments, fusekit::detail::MomentsAccumulator<float>,
                                           typename Op::template Accumulator<float>>;

    Total totals[channels] = {};
    float count = 0;  ///< number of values in each of `totals`

    /// first ? a : b, selected word by word in registers: `?:` on totals would take their addresses.
    __device__ static Total one_of(bool first, Total const& a, Total const& b) {
        Total one;
#pragma unroll
        for (unsigned word = 0; word < sizeof(Total) / sizeof(float); ++word)
            reinterpret_cast<float*>(&one)[word] =
                first ? reinterpret_cast<float const*>(&a)[word] : reinterpret_cast<float const*>(&b)[word];
        return one;
    }
    /// `value` of the first of the four lanes that have the same channels, which has the tile's first pixel.
    __device__ static float of_first_lane(float value, unsigned thread) {
        float const of_even = of_lane_xor(value, 1), of_pair = thread % 2 == 0 ? value : of_even,
                    of_first = of_lane_xor(of_pair, 2);
        return thread % 4 < 2 ? of_pair : of_first;
    }
};

}  // namespace fusekit::hip
