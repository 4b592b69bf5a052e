// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/collective/channel_totals_view.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/ops/batch_norm/moments.hpp"

namespace fusekit::hip {

/// Which pixels of a tile a thread has of an Atom's product whose columns are pixels, a bit each.
template <class Atom>
class OwnPixels {
    static constexpr int pixels = Atom::n / 4;
    static_assert(pixels <= 64, "a thread's pixels are bits");

public:
    __device__ explicit OwnPixels(unsigned thread) : first(Atom::column(static_cast<int>(thread), 0)) {}

    /// Whether one of the thread's pixels, by its number in the tile, is among these.
    __device__ static bool has(std::uint64_t these, int pixel) {
        return (these >> (pixel / 8 * 2 + pixel % 2) & 1) != 0;
    }

    /// Those among the first `end` of the tile.
    __device__ std::uint64_t before(int end) const {
        if (end >= Atom::n) return ~std::uint64_t{0} >> (64 - pixels);
        int const of_block = end % 8 - first;
        return (std::uint64_t{1} << (end / 8 * 2 + (of_block < 0 ? 0 : of_block < 2 ? of_block : 2))) - 1;
    }
    /// Those that y has, of width `width`, in the rows of a tile with a halo.
    template <class Shape>
    __device__ std::uint64_t in_rows(Shape const& shape, int width) const {
        std::uint64_t all = 0;
        int q = first, left = shape.rows * shape.pitch - q;
#pragma unroll 1
        for (int i = 0; i < pixels; ++i) {
            int const step = i % 2 == 0 ? 1 : 7;  // to the thread's next pixel
            while (q >= shape.pitch) q -= shape.pitch;
            if (q < width && left > 0) all |= std::uint64_t{1} << i;
            q += step;
            left -= step;
        }
        return all;
    }

private:
    int first;
};

/// Statistics of a warpgroup's products, of 64 channels each, whose columns are pixels: in registers, a thread totals
/// the pixels that it has of its two channels of each, of one tile after another. Empty where a plan totals nothing.
template <class Plan, class Atom, int products = 1>
struct TotalChannels {};

template <class Plan, class Atom, int products>
    requires(Plan::totals_tiles)
class TotalChannels<Plan, Atom, products> {
    using Op = typename detail::Collector<typename Plan::Epilogue>::Op;
    using Values = float[Atom::sums_per_thread];
    static constexpr int pixels = Atom::n / 4, channels = 2 * products;  ///< of a thread

public:
    using Total = typename Op::template Total<float>;

    /// Adds what was collected of a tile at the thread's pixels that are `counted`: the tile's first pixel is. Values
    /// of the others are overwritten.
    __device__ void add(Values (&of_tile)[products], std::uint64_t counted, unsigned thread) {
        auto const counts = [&](int i) { return (counted >> i & 1) != 0; };
        auto const here = static_cast<float>(__popcll(counted)), both = count + here;
        // All channels share these divisions.
        float const inverse = 1 / fusekit::detail::Moments<float>::at_least_one(here),
                    share = here / fusekit::detail::Moments<float>::at_least_one(both);
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
                            value(channel, i) = first[channel];  // which adds nothing
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
        count = both;
    }

    /// Merges the totals of a warp's lanes, puts one for each channel that y has, from `first` on, and begins again.
    /// All lanes call it, after a tile at least. Four lanes have the same channels, and each merges some of these.
    __device__ void put(ChannelTotalsView<Total> const& to, unsigned tile, int first, unsigned thread) {
        unsigned number = 0;  // of the channel that the lane has in the end
#pragma unroll
        for (unsigned step = 0, left = channels; step < 2; ++step) {
            unsigned const mask = 1 + step, takes = thread >> step & 1;
            float const theirs = of_lane_xor(count, mask);
            count += theirs;
            float const share = theirs / fusekit::detail::Moments<float>::at_least_one(count);
            auto const merged = [&](Total const& mine, Total const& given) {
                if constexpr (are_moments)
                    return merge(mine, {theirs, of_lane_xor(given.mean, mask), of_lane_xor(given.deviations, mask)},
                                 share);
                else return merge(mine, floats_of_lane_xor(given, mask));
            };
            if (left == 1) {
                totals[0] = merged(totals[0], totals[0]);
                continue;
            }
            left /= 2;
            number += takes * left;
#pragma unroll
            for (unsigned i = 0; i < left; ++i) {
                Total const low = totals[i], high = totals[left + i];
                totals[i] = merged(one_of(takes == 0, low, high), one_of(takes == 0, high, low));
            }
        }
        auto const k = static_cast<unsigned>(first + static_cast<int>(number / 2) * Atom::m +
                                             Atom::row(static_cast<int>(thread), 2 * static_cast<int>(number % 2)));
        if ((channels > 2 || thread % 4 < 2) && k < to.channels) to.put(tile, k, totals[0]);
        for (Total& total : totals) total = {};
        count = 0;
    }

private:
    /// Moments are of differences from a value that y has. Other operators' accumulators begin as they are.
    static constexpr bool are_moments = std::is_same_v<Total, fusekit::detail::Moments<float>>;
    using Accumulator = std::conditional_t<are_moments, fusekit::detail::MomentsAccumulator<float>,
                                           typename Op::template Accumulator<float>>;

    Total totals[channels] = {};
    float count = 0;  ///< of what each has totalled

    /// In registers, where `?:` has addresses.
    __device__ static Total one_of(bool first, Total const& a, Total const& b) {
        Total one;
#pragma unroll
        for (unsigned word = 0; word < sizeof(Total) / sizeof(float); ++word)
            reinterpret_cast<float*>(&one)[word] =
                first ? reinterpret_cast<float const*>(&a)[word] : reinterpret_cast<float const*>(&b)[word];
        return one;
    }
    /// The value of the first of the four lanes that have the same channels: of the tile's first pixel.
    __device__ static float of_first_lane(float value, unsigned thread) {
        float const of_even = of_lane_xor(value, 1), of_pair = thread % 2 == 0 ? value : of_even,
                    of_first = of_lane_xor(of_pair, 2);
        return thread % 4 < 2 ? of_pair : of_first;
    }
};

}  // namespace fusekit::hip
