// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/statistics/channel_totals_view.hpp"
#include "fusekit/ops/batch_norm/moments.hpp"

namespace fusekit::hip {

/// The pixels of a thread's accumulators in one MMA whose N columns are pixels: Atom::n / 4 of them. A set of these
/// pixels is a mask: bit i is the thread's i-th pixel.
template <class Atom>
class ThreadPixels {
    static constexpr int pixels = Atom::n / 4;
    static_assert(pixels <= 64, "a thread's pixels exceed the 64 bits of a mask");

public:
    __device__ explicit ThreadPixels(unsigned thread) : first(Atom::column(static_cast<int>(thread), 0)) {}

    /// True if the mask `these` has the bit of pixel `pixel` of the tile, a pixel of this thread.
    __device__ static bool has(std::uint64_t these, int pixel) {
        return (these >> (pixel / 8 * 2 + pixel % 2) & 1) != 0;
    }

    /// Mask of the thread's pixels with an index below `end` in the tile.
    __device__ std::uint64_t mask_below(int end) const {
        if (end >= Atom::n) return ~std::uint64_t{0} >> (64 - pixels);
        int const of_block = end % 8 - first;
        return (std::uint64_t{1} << (end / 8 * 2 + (of_block < 0 ? 0 : of_block < 2 ? of_block : 2))) - 1;
    }
    /// Mask of the thread's pixels that are in bounds of y, for a tile of shape.rows rows of y with an out-of-bounds
    /// gap after each: a row of y has `width` pixels and is stored every shape.pitch pixels of the tile.
    template <class Shape>
    __device__ std::uint64_t in_rows(Shape const& shape, int width) const {
        std::uint64_t all = 0;
        int q = first, remaining = shape.rows * shape.pitch - q;
#pragma unroll 1
        for (int i = 0; i < pixels; ++i) {
            int const step = i % 2 == 0 ? 1 : 7;  // distance to the thread's next pixel, in pixels of the tile
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

/// Channel statistics of a warpgroup's accumulators: `products` MMAs of 64 channels each, with pixels as columns. A
/// thread accumulates in registers, over several tiles, the statistics of its two channels per MMA at its own pixels.
/// Empty if the plan has no statistics.
template <class Plan, class Atom, int products = 1>
struct TotalChannels {};

template <class Plan, class Atom, int products>
    requires(Plan::totals_tiles)
class TotalChannels<Plan, Atom, products> {
    using Op = typename detail::Collector<typename Plan::Epilogue>::Op;
    using Values = float[Atom::acc_per_thread];
    /// a thread's pixels per MMA, and its channels over all MMAs
    static constexpr int pixels = Atom::n / 4, channels = 2 * products;

public:
    using Total = typename Op::template Total<float>;

    /// Adds the values of a tile, `of_tile`, at the thread's pixels in the mask `counted`, to the statistics of the
    /// thread's channels. `of_tile` are the values that the statistics operator received. Overwrites those outside the
    /// mask. Precondition: the tile's first pixel is in the mask.
    __device__ void add(Values (&of_tile)[products], std::uint64_t counted, unsigned thread) {
        auto const counts = [&](int i) { return (counted >> i & 1) != 0; };
        auto const here = static_cast<float>(__popcll(counted)), merged_count = count + here;
        // 1 / count of this tile, and this tile's fraction of the count after the merge; the thread's channels share
        // both.
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
                            // a deviation of 0 from `first` does not change the sums
                            value(channel, i) = first[channel];
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

    /// Merges the statistics of a warp's lanes, writes those of y's channels from channel `first` on to tile `tile` of
    /// `to`, omitting channels past y's last, and resets this thread's statistics. All lanes call it, after at least
    /// one add(). Four lanes have the same channels; each of the four merges and writes some of them.
    __device__ void put(ChannelTotalsView<Total> const& to, unsigned tile, int first, unsigned thread) {
        unsigned number = 0;  // index, in [0, channels), of the channel that this lane writes
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
    /// True if the statistics are moments: they are accumulated as differences from one of the values, given to
    /// Accumulator::start(). Other statistics operators accumulate the values themselves.
    static constexpr bool are_moments = std::is_same_v<Total, fusekit::detail::Moments<float>>;
    using Accumulator = std::conditional_t<are_moments, fusekit::detail::MomentsAccumulator<float>,
                                           typename Op::template Accumulator<float>>;

    Total totals[channels] = {};
    float count = 0;  ///< number of values that each channel's statistics in `totals` cover

    /// Returns first ? a : b, selected word by word in registers; `?:` on the structs would force them into local
    /// memory.
    __device__ static Total one_of(bool first, Total const& a, Total const& b) {
        Total one;
#pragma unroll
        for (unsigned word = 0; word < sizeof(Total) / sizeof(float); ++word)
            reinterpret_cast<float*>(&one)[word] =
                first ? reinterpret_cast<float const*>(&a)[word] : reinterpret_cast<float const*>(&b)[word];
        return one;
    }
    /// Returns `value` of the first lane of this lane's quad, the four lanes that have the same channels. That lane has
    /// the tile's first pixel.
    __device__ static float of_first_lane(float value, unsigned thread) {
        float const of_even = of_lane_xor(value, 1), of_pair = thread % 2 == 0 ? value : of_even,
                    of_first = of_lane_xor(of_pair, 2);
        return thread % 4 < 2 ? of_pair : of_first;
    }
};

}  // namespace fusekit::hip
