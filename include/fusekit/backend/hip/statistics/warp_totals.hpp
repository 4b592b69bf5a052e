// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/ops/batch_norm/moments.hpp"

namespace fusekit::hip {

/// Merges the totals of `Count` columns over the lanes of a warp whose numbers differ in the bits from `distance` to
/// 16. Each step exchanges totals with lane ^ distance. While a lane has several columns, it sends one half of them and
/// keeps the other half, so that 8 columns take 7 exchanges instead of 24. The order of the merges is fixed: results
/// are bitwise identical in every run. Count is a power of two, and at most 32 / distance.
template <class Total, int Count>
class WarpTotals {
    static constexpr unsigned lanes = 32;

public:
    /// Merges totals[0] to totals[Count - 1]; the results of one column are left in totals[0]. Returns its number. It
    /// is the column's total in lanes with lane / distance < Count.
    __device__ __forceinline__ static unsigned merge_lanes(Total (&totals)[Count], unsigned distance, unsigned lane) {
        return merge_columns<Count>(totals, distance, lane);
    }

private:
    using Moments = fusekit::detail::Moments<float>;

    template <int Active>
    __device__ __forceinline__ static unsigned merge_columns(Total (&totals)[Count], unsigned distance, unsigned lane) {
        if constexpr (Active > 1) {
            bool const upper = (lane & distance) != 0;
            exchange<Active / 2>(totals, distance, upper);
            return (upper ? Active / 2 : 0) + merge_columns<Active / 2>(totals, distance * 2, lane);
        } else {
#pragma unroll 1
            for (; distance < lanes; distance *= 2) exchange<0>(totals, distance, false);
            return 0;
        }
    }

    /// Merges totals[0] to totals[Half - 1], or, if `upper`, the `Half` totals after them, with those of the other
    /// lane. Half = 0: both lanes merge totals[0].
    template <int Half>
    __device__ __forceinline__ static void exchange(Total (&totals)[Count], unsigned distance, bool upper) {
        constexpr int merged = Half > 0 ? Half : 1;
        if constexpr (std::is_same_v<Total, Moments>) {  // the counts of all columns are equal
            float const count = totals[0].count, other = of_lane_xor(count, distance),
                        share = other / Moments::at_least_one(count + other);
#pragma unroll
            for (int i = 0; i < merged; ++i) {
                Total const sent = upper ? totals[i] : totals[i + Half], kept = upper ? totals[i + Half] : totals[i];
                totals[i] = merge(
                    Moments{count, kept.mean, kept.deviations},
                    Moments{other, of_lane_xor(sent.mean, distance), of_lane_xor(sent.deviations, distance)}, share);
            }
        } else {
#pragma unroll
            for (int i = 0; i < merged; ++i) {
                Total const sent = upper ? totals[i] : totals[i + Half], kept = upper ? totals[i + Half] : totals[i];
                totals[i] = merge(kept, floats_of_lane_xor(sent, distance));
            }
        }
    }
};

}  // namespace fusekit::hip
