// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "fusekit/backend/hip/arch/maximum.hpp"
#include "fusekit/ops/operator.hpp"

namespace fusekit::hip {

/// A coordinate of y to a thread, which keeps maxima of its own values until its kernel ends.
struct ThreadCoord : OutputCoord {
    FUSEKIT_HD explicit ThreadCoord(OutputCoord const& at) : OutputCoord(at) {}

    template <int number>
    __device__ void raise(float*, float value) const {
        unsigned& own = maximum_of_thread<number>();
        unsigned const magnitude = detail::magnitude_bits(value);
        own = own < magnitude ? magnitude : own;
    }
};

/// Maxima of a thread while it stores a tile, in registers.
template <int count>
struct TileMaxima {
    float largest[count] = {};

    __device__ void keep() const {
        [&]<int... number>(std::integer_sequence<int, number...>) {
            (ThreadCoord({}).template raise<number>(nullptr, largest[number]), ...);
        }(std::make_integer_sequence<int, count>{});
    }
};
template <>
struct TileMaxima<0> {
    __device__ void keep() const {}
};

/// A coordinate of y to a thread that stores a tile, or of a place that y does not have.
template <int count>
struct MaximaCoord : ThreadCoord {
    TileMaxima<count>& maxima;
    bool exists;

    __device__ MaximaCoord(OutputCoord const& at, TileMaxima<count>& the_maxima, bool it_exists)
        : ThreadCoord(at), maxima(the_maxima), exists(it_exists) {}

    template <int number>
    __device__ void raise(float*, float value) const {
        maxima.largest[number] = larger_magnitude(maxima.largest[number], exists ? value : 0.0f);
    }
};

}  // namespace fusekit::hip
