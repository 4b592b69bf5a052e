// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/result.hpp"
#include "fusekit/tensor/check.hpp"
#include "fusekit/tensor/collapsed.hpp"

namespace fusekit::hip {

/// Memory orders for which a call's kernels are compiled: any, or channels-last only (row-major for matrices).
enum class Orders { any, channels_last };

namespace detail {

/// Returns an error if a tensor has more than one channel and its channel stride is not 1.
FUSEKIT_H inline Refusal refuse_other_orders(Text (*plan)(), char const* tensor, CollapsedLayout<4> const& layout) {
    if (layout.shape[1] <= 1 || layout.stride[1] == 1) return {};
    bool const matrices = layout.shape.from.kind == CollapsedFrom::matrices;
    return Error(plan(), tensor, "strides",
                 Text(matrices ? "column stride 1" : "channel stride 1") + ", because the call uses channels_last()",
                 strides_of(layout));
}

}  // namespace detail

}  // namespace fusekit::hip
