// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/image_order.hpp"
#include "fusekit/backend/hip/slabs.hpp"
#include "fusekit/plan/plan.hpp"

namespace fusekit::hip {

/// Kernel argument of plans whose threads each compute a packet of adjacent outputs from a few values of x each.
template <class Plan, Element T, detail::OutputElement U>
struct ImagePacketParams {
    BoundPlan<Plan> bound;
    TensorView<T const> x;
    TensorView<U> y;
    ImageOrder order;  ///< numbering of the outputs of an image
    unsigned packets = 0;  ///< number of vectors of `lanes` outputs in y, or in one range of images (slabs.hpp)
    Slabs slabs = {};
    FastDivmod image = {};  ///< K P Q: number of outputs per image
};

}  // namespace fusekit::hip
