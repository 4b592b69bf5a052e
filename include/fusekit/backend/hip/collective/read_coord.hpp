// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/thread_coord.hpp"

namespace fusekit::hip {

/// A coordinate of y whose element of the only view of activations that operators read has been loaded.
struct ReadCoord : ThreadCoord {
    float value;

    FUSEKIT_HD ReadCoord(OutputCoord const& at, float the_value) : ThreadCoord(at), value(the_value) {}

    using OutputCoord::load;
    FUSEKIT_HD float load(AnyView<4> const&) const { return value; }
};

}  // namespace fusekit::hip
