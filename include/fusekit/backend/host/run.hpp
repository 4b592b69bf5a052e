// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/device.hpp"
#include "fusekit/backend/host/conv_channel_lanes.hpp"
#include "fusekit/backend/host/conv_pixel_lanes.hpp"
#include "fusekit/backend/host/depthwise.hpp"
#include "fusekit/backend/host/pointwise.hpp"
#include "fusekit/backend/host/pooling.hpp"
#include "fusekit/backend/host/reduction.hpp"
#include "fusekit/backend/host/run_double.hpp"
#include "fusekit/plan/plan.hpp"

namespace fusekit::host {

static_assert(fusekit::Device<Device>);

namespace detail {

template <class Bound, Element T>
auto conv_problem(Bound const& bound, TensorView<T const> const& x) {
    auto const filter = Bound::Plan::Head::geometry(bound.head);
    return ConvProblem<T, filter.rank>{x, typed<T>(bound.head.weights), bound.epilogue_shape(x.layout.shape), filter};
}

}  // namespace detail

template <class Bound, Element T>
void Device::run(Bound const& bound, TensorView<T const> const& x, TensorView<T> const& y) {
    using Plan = typename Bound::Plan;
    using Epilogue = typename Plan::Epilogue;
    Turn turn(*this);
    if constexpr (std::is_same_v<T, double>) {
        run_double(turn, bound, x, y);
    } else if constexpr (Plan::has_conv && Plan::pools) {
        auto const conv = detail::conv_problem(bound, x);
        ConvChannelLanes<Epilogue, T, Plan::Head::folded_space, typename Plan::Last>(turn, conv, bound.epilogue, y)
            .run();
    } else if constexpr (Plan::has_conv) {
        auto const conv = detail::conv_problem(bound, x);
        constexpr int space = Plan::Head::folded_space;
        bool const channel_lanes = y.layout.stride[1] == 1 && y.layout.shape[1] > 1;
        if constexpr (Plan::Head::may_be_grouped)
            if (conv.group_c() == 1 && conv.group_k() == 1 && conv.groups() > 1) {
                if (channel_lanes)
                    return Depthwise<Epilogue, T, space, Axis::channel>(turn, conv, bound.epilogue, y).run();
                return Depthwise<Epilogue, T, space, Axis::pixel>(turn, conv, bound.epilogue, y).run();
            }
        if (channel_lanes) return ConvChannelLanes<Epilogue, T, space>(turn, conv, bound.epilogue, y).run();
        auto const flat = flattened(conv, y);
        ConvPixelLanes<Epilogue, T, space>(turn, flat.conv, bound.epilogue, flat.y, y.layout.shape[3]).run();
    } else if constexpr (Plan::has_reduction) {
        Reduction<Plan, T>(turn, bound, x, y).run();
    } else if constexpr (Plan::pools) {
        Pooling<Plan, T>(turn, bound.epilogue, x, y).run();
    } else {
        pointwise<Epilogue>(turn, x, y, bound.epilogue);
    }
}

}  // namespace fusekit::host
