// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/thread_coord.hpp"

namespace fusekit::hip {

/// Coordinate of y with the preloaded element of the only activation view that operators read.
struct ReadCoord : ThreadCoord {
    float value;

    FUSEKIT_HD ReadCoord(OutputCoord const& at, float the_value) : ThreadCoord(at), value(the_value) {}

    using OutputCoord::load;
    FUSEKIT_HD float load(AnyView<4> const&) const { return value; }
};

}  // namespace fusekit::hip
