// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/collective/grid_group.hpp"
#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/plan/plan.hpp"
#include "fusekit/plan/row_gradient.hpp"

namespace fusekit::hip {

/// Kernel argument of the gradient of a plan whose first operator is a RowOp. A row is one group of channels of one
/// pixel or, with over_pixels, of one image. CTAs keep partial totals of channels in `sets` sets in workspace: set s
/// has those of rows s, s + sets, ... of every group.
template <class Plan, Element T, detail::OutputElement U>
struct RowGradientParams {
    BoundPlan<Plan> bound;
    TensorView<T const> x;  ///< dy
    TensorView<U> y;  ///< dx
    TensorView<T const> forward_x;
    unsigned rows = 0;  ///< rows of a group
    unsigned groups = 1, channels = 0;  ///< groups of channels; channels of a group
    unsigned columns = 0;  ///< packets of channels of a group or, along pixels, its channels
    unsigned steps = 0;  ///< pixels of a row or, along pixels, packets of pixels
    unsigned width = 1;  ///< columns that the threads of a CTA read at once, a power of two
    unsigned group = 1;  ///< threads of a row, a power of two
    unsigned sets = 1;
    /// CTAs that share a set, a power of two; in ImageRowGradient, CTAs that share an image
    unsigned cluster = 1;
    FastDivmod of_plane = {}, of_line = {};  ///< divisors: pixels of an image, and of a line (Q)
    float count = 0;  ///< values of a row
    bool saves_totals = false;
    GroupWorkspace workspace = {};
};

}  // namespace fusekit::hip
