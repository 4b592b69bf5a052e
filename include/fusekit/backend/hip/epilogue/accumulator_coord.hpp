// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "fusekit/backend/hip/thread_coord.hpp"

namespace fusekit::hip {

/// Maxima of |value| of a thread, for each Amax operator, kept in registers while the thread stores a tile: independent
/// chains of maxima, so that their latencies overlap.
template <int count>
struct TileMaxima {
    static constexpr int chains = 4;
    float largest[count > 0 ? count : 1][chains] = {};

    __device__ void keep() const {
        [&]<int... number>(std::integer_sequence<int, number...>) {
            for (int chain = 0; chain < chains; ++chain)
                (ThreadCoord({}).template raise<number>(nullptr, largest[number][chain]), ...);
        }(std::make_integer_sequence<int, count>{});
    }
};

/// Coordinate of an accumulator of y; `exists` is false out of bounds. If `loads`, TMA has loaded `value`, the element
/// of the only activation view that operators read. Otherwise chain `number` of `maxima` keeps maxima.
template <bool loads, int count>
struct AccumulatorCoord : ThreadCoord {
    float value;
    TileMaxima<count>& maxima;
    int number;
    bool exists;

    __device__ AccumulatorCoord(OutputCoord const& at, float the_value, TileMaxima<count>& the_maxima, int the_number,
                                bool is_in_bounds)
        : ThreadCoord(at), value(the_value), maxima(the_maxima), number(the_number), exists(is_in_bounds) {}

    using OutputCoord::load;
    __device__ float load(AnyView<4> const& view) const {
        if constexpr (loads) return value;
        else return OutputCoord::load(view);
    }
    template <int of>
    __device__ void raise(float*, float x) const {
        float& largest = maxima.largest[of][number % TileMaxima<count>::chains];
        largest = larger_magnitude(largest, exists ? x : 0.0f);
    }
};

}  // namespace fusekit::hip
