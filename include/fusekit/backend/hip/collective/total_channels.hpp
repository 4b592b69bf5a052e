// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/collective/halo_stages.hpp"
#include "fusekit/backend/hip/collective/total_products.hpp"

namespace fusekit::hip {

/// Statistics of a warpgroup's products whose rows are channels, in registers: a thread totals the pixels that it has
/// of its two channels, of one tile after another. Empty where a plan totals nothing.
template <class Plan, class Atom>
struct TotalChannels {
    __device__ void begin(HaloShape<Atom::n> const&, int, int, unsigned) {}
    __device__ void add(int, float) {}
    __device__ void end() {}
};

template <class Plan, class Atom>
    requires(Plan::totals_tiles)
class TotalChannels<Plan, Atom> {
    using Op = typename detail::Collector<typename Plan::Epilogue>::Op;
    using Accumulator = typename Op::template Accumulator<float>;
    static_assert(Atom::n / 4 <= 64, "a thread's pixels are bits");

public:
    using Total = typename Op::template Total<float>;

    /// Begins a tile, of which y has `rows` rows of `width` pixels. Call add() for all values next, then end().
    __device__ void begin(HaloShape<Atom::n> const& shape, int rows, int width, unsigned thread) {
        for (auto& accumulator : of_tile) accumulator = {};
        if (rows == counted_rows) return;
        counted_rows = rows;
        counted = 0;
        count = 0;
        int q = Atom::column(static_cast<int>(thread), 0), left = rows * shape.pitch - q;
#pragma unroll 1
        for (int bit = 0; bit < Atom::n / 4; ++bit) {
            int const step = bit % 2 == 0 ? 1 : 7;  // to the thread's next pixel
            while (q >= shape.pitch) q -= shape.pitch;
            if (q < width && left > 0) counted |= std::uint64_t{1} << bit, ++count;
            q += step;
            left -= step;
        }
    }
    /// Adds the value of sum `e`.
    __device__ void add(int e, float value) {
        of_tile[e / 2 % 2].add(value, (counted >> (e / 4 * 2 + e % 2) & 1) != 0);
    }
    __device__ void end() {
        for (int i = 0; i < 2; ++i) {
            Total const total = of_tile[i].total(static_cast<float>(count));
            totals[i] = begun ? merge(totals[i], total) : total;
        }
        begun = true;
    }

    /// Merges the totals of a warp's lanes, and writes one for each channel. All lanes call it, after a tile at least.
    __device__ void put(Uninitialized<Total> (&to)[Atom::m], unsigned thread) const {
        for (int i = 0; i < 2; ++i) {
            Total total = merge(totals[i], total_of_lane_xor(totals[i], 1));
            total = merge(total, total_of_lane_xor(total, 2));
            if (thread % 4 == 0) to[Atom::row(static_cast<int>(thread), 2 * i)].value() = total;
        }
    }

private:
    Accumulator of_tile[2];
    Total totals[2];
    bool begun = false;
    // The pixels of y among the thread's, of a tile of so many rows.
    std::uint64_t counted = 0;
    int counted_rows = -1, count = 0;
};

}  // namespace fusekit::hip
