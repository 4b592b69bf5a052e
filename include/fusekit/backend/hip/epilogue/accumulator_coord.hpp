// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "fusekit/backend/hip/thread_coord.hpp"

namespace fusekit::hip {

/// A thread's running maxima of |value| for the plan's `count` Amax operators, in registers, while it stores an output
/// tile. Each operator has `chains` maxima, which values update round-robin: the maxima are independent, so that their
/// latencies overlap. keep() merges them into the operators' results.
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

/// Coordinate in y of an accumulator, which the epilogue passes to its operators. `exists` is false if the coordinate
/// is out of bounds of y. An Amax operator's raise() updates maximum `chain` = `number` % TileMaxima::chains of
/// `maxima`, with 0 if not `exists`.
template <bool loads, int count>
struct AccumulatorCoord : ThreadCoord {
    TileMaxima<count>& maxima;
    int chain;
    bool exists;

    __device__ AccumulatorCoord(OutputCoord const& at, float, TileMaxima<count>& the_maxima, int number,
                                bool is_in_bounds)
        : ThreadCoord(at), maxima(the_maxima), chain(number % TileMaxima<count>::chains), exists(is_in_bounds) {}

    template <int number>
    __device__ void raise(float*, float value) const {
        float& largest = maxima.largest[number][chain];
        largest = larger_magnitude(largest, exists ? value : 0.0f);
    }
};
/// Coordinate in y of an accumulator if TMA has loaded the only tensor that operators read per element of y: load()
/// returns `value`, that tensor's element, instead of reading global memory.
template <>
struct AccumulatorCoord<true, 0> : ThreadCoord {
    float value;

    FUSEKIT_HD AccumulatorCoord(OutputCoord const& at, float the_value, TileMaxima<0>&, int, bool)
        : ThreadCoord(at), value(the_value) {}

    using OutputCoord::load;
    FUSEKIT_HD float load(AnyView<4> const&) const { return value; }
};

}  // namespace fusekit::hip
