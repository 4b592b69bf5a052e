// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/ops/operator.hpp"

namespace fusekit::hip {

/// A coordinate of y whose element of one view, the one whose data begin at `read`, has been loaded: other views are
/// loaded when they are asked for.
struct ReadCoord : OutputCoord {
    void const* read;
    float value;

    FUSEKIT_HD ReadCoord(OutputCoord const& at, void const* the_read, float the_value)
        : OutputCoord(at), read(the_read), value(the_value) {}

    using OutputCoord::load;
    FUSEKIT_HD float load(AnyView<4> const& view) const {
        return view.float32 == read ? value : OutputCoord::load(view);
    }
};

}  // namespace fusekit::hip
