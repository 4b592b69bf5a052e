// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/collective/halo_stages.hpp"
#include "fusekit/backend/hip/collective/tile_totals.hpp"
#include "fusekit/ops/batch_norm/moments.hpp"

namespace fusekit::hip {

/// Which pixels of a tile a thread has of an Atom's product whose columns are pixels, a bit each.
template <class Atom>
class OwnPixels {
    static constexpr int pixels = Atom::n / 4;
    static_assert(pixels <= 64, "a thread's pixels are bits");

public:
    __device__ explicit OwnPixels(unsigned thread) : first(Atom::column(static_cast<int>(thread), 0)) {}

    /// Those among the first `end` of the tile.
    __device__ std::uint64_t before(int end) const {
        if (end >= Atom::n) return ~std::uint64_t{0} >> (64 - pixels);
        int const of_block = end % 8 - first;
        return (std::uint64_t{1} << (end / 8 * 2 + (of_block < 0 ? 0 : of_block < 2 ? of_block : 2))) - 1;
    }
    /// Those that y has, of width `width`, in the rows of a tile with a halo.
    __device__ std::uint64_t in_rows(HaloShape<Atom::n> const& shape, int width) const {
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

/// The total of the lane whose number differs in the bits of `mask`.
template <class Total>
__device__ Total total_of_lane_xor(Total const& total, unsigned mask) {
    Total other;
#pragma unroll
    for (unsigned word = 0; word < sizeof(Total) / sizeof(float); ++word)
        reinterpret_cast<float*>(&other)[word] = of_lane_xor(reinterpret_cast<float const*>(&total)[word], mask);
    return other;
}

/// Statistics of a warpgroup's products, of 64 channels each, whose columns are pixels: in registers, a thread totals
/// the pixels that it has of its two channels of each, of one tile after another. Empty where a plan totals nothing.
template <class Plan, class Atom, int products = 1>
struct TotalChannels {};

template <class Plan, class Atom, int products>
    requires(Plan::totals_tiles)
class TotalChannels<Plan, Atom, products> {
    using Op = typename detail::Collector<typename Plan::Epilogue>::Op;
    using Values = float[Atom::sums_per_thread];
    static constexpr int pixels = Atom::n / 4;  ///< of a thread

public:
    using Total = typename Op::template Total<float>;

    /// Adds what was collected of a tile, at the thread's pixels that are `counted`. The tile's first pixel is one. It
    /// changes the values that are not.
    __device__ void add(Values (&of_tile)[products], std::uint64_t counted, unsigned thread) {
        auto const counts = [&](int i) { return (counted >> i & 1) != 0; };
        auto const here = static_cast<float>(__popcll(counted)), both = count + here;
        // Divisions that all channels share.
        float const inverse = 1 / fusekit::detail::Moments<float>::at_least_one(here),
                    share = here / fusekit::detail::Moments<float>::at_least_one(both);
        bool const all = counted == ~std::uint64_t{0} >> (64 - pixels);
#pragma unroll
        for (int product = 0; product < products; ++product)
#pragma unroll
            for (int own = 0; own < 2; ++own) {
                auto const value = [&](int i) -> float& { return of_tile[product][i / 2 * 4 + 2 * own + i % 2]; };
                Total& total = totals[product][own];
                Accumulator accumulator;
                if constexpr (are_moments) {
                    float const first = of_first_lane(value(0), thread);
                    accumulator.start(first);
                    if (!all)
#pragma unroll
                        for (int i = 0; i < pixels; ++i)
                            if (!counts(i)) value(i) = first;  // which adds nothing
#pragma unroll
                    for (int i = 0; i < pixels; ++i) accumulator.add(value(i));
                    total = merge({count, total.mean, total.deviations}, accumulator.total(here, inverse), share);
                } else {
#pragma unroll
                    for (int i = 0; i < pixels; ++i) accumulator.add(value(i), counts(i));
                    Total const next = accumulator.total(here);
                    total = count > 0 ? merge(total, next) : next;
                }
            }
        count = both;
    }

    /// Merges the totals of a warp's lanes, and writes one for each channel. All lanes call it, after a tile at least.
    __device__ void put(Uninitialized<Total>* to, unsigned thread) const {
#pragma unroll
        for (int product = 0; product < products; ++product)
            for (int own = 0; own < 2; ++own) {
                Total total = totals[product][own];
                for (unsigned mask = 1; mask <= 2; mask *= 2) total = merge(total, total_of_lane_xor(total, mask));
                if (thread % 4 == 0)
                    to[product * Atom::m + Atom::row(static_cast<int>(thread), 2 * own)].value() = total;
            }
    }

private:
    /// Moments are of differences from a value that y has. Other operators' accumulators begin as they are.
    static constexpr bool are_moments = std::is_same_v<Total, fusekit::detail::Moments<float>>;
    using Accumulator = std::conditional_t<are_moments, fusekit::detail::MomentsAccumulator<float>,
                                           typename Op::template Accumulator<float>>;

    Total totals[products][2] = {};
    float count = 0;  ///< of what each has totalled

    /// The value of the first of the four lanes that have the same channels: of the tile's first pixel.
    __device__ static float of_first_lane(float value, unsigned thread) {
        float const of_even = of_lane_xor(value, 1), of_pair = thread % 2 == 0 ? value : of_even,
                    of_first = of_lane_xor(of_pair, 2);
        return thread % 4 < 2 ? of_pair : of_first;
    }
};

}  // namespace fusekit::hip
