// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/device.hpp"
#include "fusekit/problem/facts.hpp"
#include "fusekit/result.hpp"
#include "fusekit/tensor/check.hpp"
#include "fusekit/tensor/collapsed.hpp"

namespace fusekit::hip {

/// Memory orders for which a call's kernels are compiled: any, channels-last only (row-major for matrices), or only
/// those of a y whose channels are not contiguous.
enum class Orders { any, channels_last, planes };

namespace detail {

/// Calls f with the std::integral_constant of the axis along which consecutive threads store y: channels if y is
/// channels-last, else pixels. Of the two calls, only those that `orders` allows are compiled.
template <Orders orders, class F>
FUSEKIT_H auto with_fast_axis([[maybe_unused]] Layout<4> const& y, F const& f) {
    if constexpr (orders == Orders::any)
        if (!problem::channels_are_contiguous(y)) return f(std::integral_constant<Axis, Axis::pixel>{});
    return f(std::integral_constant < Axis, orders == Orders::planes ? Axis::pixel : Axis::channel > {});
}

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
