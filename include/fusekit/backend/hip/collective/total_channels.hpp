// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/collective/halo_stages.hpp"
#include "fusekit/backend/hip/collective/total_products.hpp"

namespace fusekit::hip {

/// Statistics of a warpgroup's products whose rows are channels, in registers: a thread totals the pixels that it has
/// of its two channels, of one tile after another. Empty where a plan totals nothing.
template <class Plan, class Atom>
struct TotalChannels {};

template <class Plan, class Atom>
    requires(Plan::totals_tiles)
class TotalChannels<Plan, Atom> {
    using Op = typename detail::Collector<typename Plan::Epilogue>::Op;
    static constexpr int pixels = Atom::n / 4;  ///< of a thread
    static_assert(pixels <= 64, "a thread's pixels are bits");

public:
    using Total = typename Op::template Total<float>;

    /// Adds what was collected of a tile, of which y has `rows` rows of `width` pixels.
    __device__ void add(float const (&values)[Atom::sums_per_thread], HaloShape<Atom::n> const& shape, int rows,
                        int width, unsigned thread) {
        if (rows != counted_rows) find_counted(shape, rows, width, thread);
        for (int own = 0; own < 2; ++own) {
            Accumulator accumulator{};
            accumulator.start(of_first_lane(values[2 * own], thread));
#pragma unroll
            for (int i = 0; i < pixels; ++i)
                accumulator.add(values[i / 2 * 4 + 2 * own + i % 2], (counted >> i & 1) != 0);
            Total const total = accumulator.total(static_cast<float>(count));
            totals[own] = begun ? merge(totals[own], total) : total;
        }
        begun = true;
    }

    /// Merges the totals of a warp's lanes, and writes one for each channel. All lanes call it, after a tile at least.
    __device__ void put(Uninitialized<Total> (&to)[Atom::m], unsigned thread) const {
        for (int own = 0; own < 2; ++own) {
            Total total = merge(totals[own], total_of_lane_xor(totals[own], 1));
            total = merge(total, total_of_lane_xor(total, 2));
            if (thread % 4 == 0) to[Atom::row(static_cast<int>(thread), 2 * own)].value() = total;
        }
    }

private:
    /// Moments are of differences from a value that y has. Other operators' accumulators begin as they are.
    struct Plain : Op::template Accumulator<float> {
        __device__ void start(float) {}
    };
    using Accumulator = std::conditional_t<std::is_same_v<Total, fusekit::detail::Moments<float>>,
                                           fusekit::detail::MomentsAccumulator<float>, Plain>;

    Total totals[2];
    bool begun = false;
    // The pixels of y among the thread's, of a tile of so many rows.
    std::uint64_t counted = 0;
    int counted_rows = -1, count = 0;

    __device__ void find_counted(HaloShape<Atom::n> const& shape, int rows, int width, unsigned thread) {
        counted_rows = rows;
        counted = 0;
        count = 0;
        int q = Atom::column(static_cast<int>(thread), 0), left = rows * shape.pitch - q;
#pragma unroll 1
        for (int i = 0; i < pixels; ++i) {
            int const step = i % 2 == 0 ? 1 : 7;  // to the thread's next pixel
            while (q >= shape.pitch) q -= shape.pitch;
            if (q < width && left > 0) counted |= std::uint64_t{1} << i, ++count;
            q += step;
            left -= step;
        }
    }

    /// The value of the first of the four lanes that have the same channels: of the tile's first pixel.
    __device__ static float of_first_lane(float value, unsigned thread) {
        float const of_even = of_lane_xor(value, 1), of_pair = thread % 2 == 0 ? value : of_even,
                    of_first = of_lane_xor(of_pair, 2);
        return thread % 4 < 2 ? of_pair : of_first;
    }
};

}  // namespace fusekit::hip
