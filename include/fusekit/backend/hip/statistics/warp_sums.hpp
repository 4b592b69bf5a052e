// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/ops/batch_norm/moments.hpp"

namespace fusekit::hip {

/// Number of the first floats of an Accumulator that are equal in all lanes of a warp: the shift of
/// MomentsAccumulator, if all lanes start with one value. The other floats are sums.
template <class Accumulator>
inline constexpr int equal_floats = 0;
template <>
inline constexpr int equal_floats<detail::MomentsAccumulator<float>> = 1;

/// Adds the accumulators of `Count` columns over the lanes of a warp whose numbers differ in the bits from `distance`
/// to 16. Each step exchanges sums with lane ^ distance. While a lane has several columns, it sends one half of them
/// and keeps the other half, so that 8 columns take 7 exchanges instead of 24. The order of the additions is fixed:
/// results are bitwise identical in every run. Count is a power of two, and at most 32 / distance.
template <class Accumulator, int Count>
class WarpSums {
    static constexpr unsigned lanes = 32;
    static constexpr int floats = sizeof(Accumulator) / sizeof(float), equal = equal_floats<Accumulator>;

public:
    /// Replaces of[0] by the sums of one column and returns this column's number. Called by all lanes. Lanes 0 to Count
    /// * distance - 1 have all columns.
    __device__ __forceinline__ static unsigned add(Accumulator (&of)[Count], unsigned distance, unsigned lane) {
        return add_columns<Count>(of, distance, lane);
    }
    /// Returns the sum of `value` over the same lanes.
    __device__ __forceinline__ static float add(float value, unsigned distance) {
        for (; distance < lanes; distance *= 2) value += of_lane_xor(value, distance);
        return value;
    }

private:
    template <int Active>
    __device__ __forceinline__ static unsigned add_columns(Accumulator (&of)[Count], unsigned distance, unsigned lane) {
        if constexpr (Active > 1) {
            bool const upper = (lane & distance) != 0;
            exchange<Active / 2>(of, distance, upper);
            return (upper ? Active / 2 : 0) + add_columns<Active / 2>(of, distance * 2, lane);
        } else {
            for (; distance < lanes; distance *= 2) exchange<0>(of, distance, false);
            return 0;
        }
    }

    /// Adds the other lane's sums to of[0], ..., of[Half - 1] or, if `upper`, to the `Half` accumulators after them,
    /// and stores the results to of[0], ..., of[Half - 1]. Half = 0: both lanes add to of[0].
    template <int Half>
    __device__ __forceinline__ static void exchange(Accumulator (&of)[Count], unsigned distance, bool upper) {
#pragma unroll
        for (int i = 0; i < (Half > 0 ? Half : 1); ++i) {
            auto* const low = reinterpret_cast<float*>(&of[i]);
            auto const* const high = reinterpret_cast<float const*>(&of[i + Half]);
#pragma unroll
            for (int j = 0; j < floats; ++j) {
                float const sent = upper ? low[j] : high[j], kept = upper ? high[j] : low[j];
                low[j] = j < equal ? kept : kept + of_lane_xor(sent, distance);
            }
        }
    }
};

}  // namespace fusekit::hip
