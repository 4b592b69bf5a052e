// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/ops/operator.hpp"

namespace fusekit::hip {

/// Function object that maps an index to the coordinate of an element of one image, K x P x Q, whose elements are
/// numbered in memory order (channels slowest or fastest). An image has fewer than 2^31 elements.
struct ImageOrder {
    bool channels_last = false;
    FastDivmod channels = {}, plane = {}, columns = {};  ///< divisors K, P Q and Q

    FUSEKIT_H ImageOrder() = default;
    FUSEKIT_H ImageOrder(Index<4> const& shape, bool the_channels_last)
        : channels_last(the_channels_last),
          channels(static_cast<unsigned>(shape[1])),
          plane(static_cast<unsigned>(shape[2] * shape[3])),
          columns(static_cast<unsigned>(shape[3])) {}

    /// Coordinate of the element with this index, from 0, in image 0.
    FUSEKIT_HD OutputCoord coord(unsigned index) const {
        FastDivmod const& outer = channels_last ? channels : plane;
        unsigned const quotient = outer.divide(index), remainder = index - quotient * outer.value();
        unsigned const k = channels_last ? remainder : quotient, pixel = channels_last ? quotient : remainder;
        unsigned const p = columns.divide(pixel);
        return {0, k, p, pixel - p * columns.value()};
    }
    FUSEKIT_HD OutputCoord next(OutputCoord const& at) const {
        auto k = static_cast<unsigned>(at.k), p = static_cast<unsigned>(at.p), q = static_cast<unsigned>(at.q);
        if (channels_last && ++k == channels.value()) k = 0;
        if (!channels_last || k == 0) ++q;
        if (q == columns.value()) q = 0, ++p;
        if (!channels_last && p * columns.value() == plane.value()) p = 0, ++k;
        return {0, k, p, q};
    }
};

}  // namespace fusekit::hip
