// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "fusekit/backend/hip/thread_coord.hpp"

namespace fusekit::hip {

/// For each Amax operator, the maxima of |value| that a thread has found while it stores a tile, in registers. There
/// are `chains` maxima per operator, used in turn: independent of each other, so that their latencies overlap.
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

/// Coordinate in y of an accumulator, passed to the epilogue; `exists` is false out of bounds. Maxima (raise()) are
/// kept in chain `number` % chains of `maxima`.
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
/// For a tile whose elements of the only tensor that operators read per element of y were loaded by TMA: load() returns
/// `value`, the tensor's element.
template <>
struct AccumulatorCoord<true, 0> : ThreadCoord {
    float value;

    FUSEKIT_HD AccumulatorCoord(OutputCoord const& at, float the_value, TileMaxima<0>&, int, bool)
        : ThreadCoord(at), value(the_value) {}

    using OutputCoord::load;
    FUSEKIT_HD float load(AnyView<4> const&) const { return value; }
};

}  // namespace fusekit::hip
