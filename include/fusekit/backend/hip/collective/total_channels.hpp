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

/// Statistics of a warpgroup's products whose rows are channels, in registers: a thread totals the pixels that it has
/// of its two channels, of one tile after another. Empty where a plan totals nothing.
template <class Plan, class Atom>
struct TotalChannels {};

template <class Plan, class Atom>
    requires(Plan::totals_tiles)
class TotalChannels<Plan, Atom> {
    using Op = typename detail::Collector<typename Plan::Epilogue>::Op;
    static constexpr int pixels = Atom::n / 4;  ///< of a thread

public:
    using Total = typename Op::template Total<float>;

    /// Adds what was collected of a tile, at the thread's pixels that are `counted`. The tile's first pixel is one. It
    /// changes the values that are not.
    __device__ void add(float (&values)[Atom::sums_per_thread], std::uint64_t counted, unsigned thread) {
        auto const count = static_cast<float>(__popcll(counted));
        auto const counts = [&](int i) { return (counted >> i & 1) != 0; };
        auto const value = [&](int i, int own) -> float& { return values[i / 2 * 4 + 2 * own + i % 2]; };
        float first[2];
        for (int own = 0; own < 2; ++own) first[own] = of_first_lane(value(0, own), thread);
        Accumulator accumulators[2];
        if constexpr (are_moments) {
            for (int own = 0; own < 2; ++own) accumulators[own].start(first[own]);
            if (counted != ~std::uint64_t{0} >> (64 - pixels))
#pragma unroll
                for (int i = 0; i < pixels; ++i)
                    for (int own = 0; own < 2; ++own)
                        if (!counts(i)) value(i, own) = first[own];  // which adds nothing
        }
#pragma unroll
        for (int i = 0; i < pixels; ++i)
            for (int own = 0; own < 2; ++own) accumulators[own].add(value(i, own), are_moments || counts(i));
        for (int own = 0; own < 2; ++own) {
            Total const total = accumulators[own].total(count);
            totals[own] = begun ? merge(totals[own], total) : total;
        }
        begun = true;
    }

    /// Merges the totals of a warp's lanes, and writes one for each channel. All lanes call it, after a tile at least.
    __device__ void put(Uninitialized<Total>* to, unsigned thread) const {
        for (int own = 0; own < 2; ++own) {
            Total total = merge(totals[own], total_of_lane_xor(totals[own], 1));
            total = merge(total, total_of_lane_xor(total, 2));
            if (thread % 4 == 0) to[Atom::row(static_cast<int>(thread), 2 * own)].value() = total;
        }
    }

private:
    /// Moments are of differences from a value that y has. Other operators' accumulators begin as they are.
    static constexpr bool are_moments = std::is_same_v<Total, fusekit::detail::Moments<float>>;
    using Accumulator = std::conditional_t<are_moments, fusekit::detail::MomentsAccumulator<float>,
                                           typename Op::template Accumulator<float>>;

    Total totals[2];
    bool begun = false;

    /// The value of the first of the four lanes that have the same channels: of the tile's first pixel.
    __device__ static float of_first_lane(float value, unsigned thread) {
        float const of_even = of_lane_xor(value, 1), of_pair = thread % 2 == 0 ? value : of_even,
                    of_first = of_lane_xor(of_pair, 2);
        return thread % 4 < 2 ? of_pair : of_first;
    }
};

}  // namespace fusekit::hip
