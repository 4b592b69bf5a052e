// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/orders.hpp"
#include "fusekit/backend/hip/dispatch/pooling.hpp"
#include "fusekit/backend/hip/mainloop/gather.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::hip {

namespace detail {

/// True if vectors of `count` channels of x, y and the head's taps are aligned.
template <class Op, int count, Element T, detail::OutputElement U>
FUSEKIT_H bool has_channel_packets([[maybe_unused]] typename Op::Args const& args, TensorView<T const> const& x,
                                   TensorView<U> const& y) {
    if constexpr (requires { args.taps; })
        if (!problem::vectorizable<int8 const>(args.taps, count, 1)) return false;
    return problem::vectorizable<T const>(x, count, 1) && problem::vectorizable<U>(y, count, 1);
}

}  // namespace detail

/// Prepares a launch of a plan whose head is a GatherOp: in vectors of up to 16 bytes along the channels or the rows of
/// y. If an operator stores a tensor, a thread computes one element, because threads with packets would store with a
/// stride.
template <Orders orders = Orders::any, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<ImagePacketParams<Plan, T, U>>> prepare_gather(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                                       detail::ImageView<T const> const& x,
                                                                       detail::ImageView<U> const& y,
                                                                       IndexLimits const& limits = {}) {
    using Op = typename Plan::Head;
    constexpr int most = packet_elements<T, U>;
    auto const slabs = detail::cut_pool<Plan>(y.shape(), limits);
    if (!slabs) return slabs.error();
    ImagePacketParams<Plan, T, U> params{bound, x, y, {}};
    if (slabs->outputs == 0) return launch_nothing(gpu, type_name<Plan>, params);
    auto const prepare = [&]<int lanes, detail::Axis axis>(std::integral_constant<int, lanes>,
                                                           std::integral_constant<detail::Axis, axis>, bool last) {
        params.order = {y.layout.shape, last};
        return detail::prepare_packets<Plan, Gather<Plan, T, U, lanes, axis>, lanes>(gpu, params, *slabs);
    };
    using AlongPixels = std::integral_constant<detail::Axis, detail::Axis::pixel>;
    if constexpr (!Plan::Epilogue::stores) {
        using Most = std::integral_constant<int, most>;
        using AlongChannels = std::integral_constant<detail::Axis, detail::Axis::channel>;
        if constexpr (Op::keeps_channels)
            if (detail::has_channel_packets<Op, most>(bound.head, x, y)) return prepare(Most{}, AlongChannels{}, true);
        if constexpr (orders == Orders::any)
            if (problem::vectorizable<U>(y, most, 3)) return prepare(Most{}, AlongPixels{}, false);
    }
    return prepare(std::integral_constant<int, 1>{}, AlongPixels{}, channels_last(y.layout));
}

}  // namespace fusekit::hip
