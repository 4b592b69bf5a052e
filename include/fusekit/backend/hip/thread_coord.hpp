// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "fusekit/backend/hip/arch/maximum.hpp"
#include "fusekit/ops/operator.hpp"

namespace fusekit::hip {

/// OutputCoord for plans with an Amax: raise() keeps the thread's maximum (arch/maximum.hpp), which is merged when the
/// kernel ends.
struct ThreadCoord : OutputCoord {
    FUSEKIT_HD explicit ThreadCoord(OutputCoord const& at) : OutputCoord(at) {}

    template <int number>
    __device__ void raise(float*, float value) const {
        unsigned& own = maximum_of_thread<number>();
        unsigned const magnitude = detail::magnitude_bits(value);
        own = own < magnitude ? magnitude : own;
    }
};

/// Maxima of |value| of a thread, for each Amax operator, kept in registers while the thread stores a tile: independent
/// chains of maxima, so that their latencies overlap.
template <int count>
struct TileMaxima {
    static constexpr int chains = 4;
    float largest[count][chains] = {};

    __device__ void keep() const {
        [&]<int... number>(std::integer_sequence<int, number...>) {
            (keep_one<number>(), ...);
        }(std::make_integer_sequence<int, count>{});
    }

private:
    template <int number>
    __device__ void keep_one() const {
        for (float const each : largest[number]) ThreadCoord({}).template raise<number>(nullptr, each);
    }
};
template <>
struct TileMaxima<0> {
    static constexpr int chains = 1;

    __device__ void keep() const {}
};

/// ThreadCoord of a thread that stores a tile; raise() updates TileMaxima. `exists` is false out of bounds of y.
template <int count>
struct MaximaCoord : ThreadCoord {
    TileMaxima<count>& maxima;
    int chain;
    bool exists;

    __device__ MaximaCoord(OutputCoord const& at, TileMaxima<count>& the_maxima, int the_chain, bool it_exists)
        : ThreadCoord(at), maxima(the_maxima), chain(the_chain), exists(it_exists) {}

    template <int number>
    __device__ void raise(float*, float value) const {
        float& largest = maxima.largest[number][chain];
        largest = larger_magnitude(largest, exists ? value : 0.0f);
    }
};

}  // namespace fusekit::hip
