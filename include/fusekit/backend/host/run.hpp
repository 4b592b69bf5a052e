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

/// How plans of one kind of head run: run(turn, bound, x, y).
template <HeadKind kind>
struct RunHead;

template <>
struct RunHead<HeadKind::conv> {
    template <class BoundPlan, Element T>
    static void run(Device::Turn& turn, BoundPlan const& bound, TensorView<T const> const& x, TensorView<T> const& y) {
        using Plan = typename BoundPlan::Plan;
        using Head = typename Plan::Head;
        using Epilogue = typename Plan::Epilogue;
        constexpr int space = Head::collapsed_space;
        ConvProblem<T, space> const conv{after_prologue(turn, bound, x), typed<T>(Head::filters(bound.head)),
                                         bound.epilogue_shape(x.layout.shape), Head::geometry(bound.head)};
        bool const channel_lanes = y.layout.stride[1] == 1 && y.layout.shape[1] > 1;
        if constexpr (Plan::pools) {
            ConvChannelLanes<Epilogue, T, space, typename Plan::Pool>(turn, conv, bound.epilogue, y).run();
        } else {
            if constexpr (Head::may_be_grouped)
                if (conv.group_c() == 1 && conv.group_k() == 1 && conv.groups() > 1) {
                    if (channel_lanes)
                        return Depthwise<Epilogue, T, space, Axis::channel>(turn, conv, bound.epilogue, y).run();
                    return Depthwise<Epilogue, T, space, Axis::pixel>(turn, conv, bound.epilogue, y).run();
                }
            if (channel_lanes) return ConvChannelLanes<Epilogue, T, space>(turn, conv, bound.epilogue, y).run();
            auto const flat = flattened(conv, y);
            ConvPixelLanes<Epilogue, T, space>(turn, flat.conv, bound.epilogue, flat.y, y.layout.shape[3]).run();
        }
    }

private:
    /// What the mainloop reads: x itself, or what the prologue makes of it, written once to memory of the device's
    /// own. Each element is in up to R S windows, and packing them would apply the prologue to it as often.
    template <class BoundPlan, Element T>
    static TensorView<T const> after_prologue(Device::Turn& turn, BoundPlan const& bound,
                                              TensorView<T const> const& x) {
        if constexpr (!BoundPlan::Plan::has_prologue) {
            return x;
        } else {
            Layout<4> layout = packed_like(x.layout.shape, x.layout);
            layout.shape = x.layout.shape;
            std::int64_t const bytes = layout.size() * std::int64_t{sizeof(T)};
            TensorView<T> const result(reinterpret_cast<T*>(turn.between(divide_up(bytes, sizeof(float)))), layout);
            pointwise<typename BoundPlan::Plan::Prologue>(turn, x, result, bound.prologue);
            return result;
        }
    }
};

/// A convolution of single pixels.
template <>
struct RunHead<HeadKind::gemm> : RunHead<HeadKind::conv> {};

template <>
struct RunHead<HeadKind::reduction> {
    template <class BoundPlan, Element T>
    static void run(Device::Turn& turn, BoundPlan const& bound, TensorView<T const> const& x, TensorView<T> const& y) {
        Reduction<typename BoundPlan::Plan, T>(turn, bound, x, y).run();
    }
};

template <>
struct RunHead<HeadKind::elementwise> {
    template <class BoundPlan, Element T>
    static void run(Device::Turn& turn, BoundPlan const& bound, TensorView<T const> const& x, TensorView<T> const& y) {
        using Plan = typename BoundPlan::Plan;
        if constexpr (Plan::pools) Pooling<Plan, T>(turn, bound.epilogue, x, y).run();
        else pointwise<typename Plan::Epilogue>(turn, x, y, bound.epilogue);
    }
};

}  // namespace detail

template <class BoundPlan, Element T>
void Device::run(BoundPlan const& bound, TensorView<T const> const& x, TensorView<T> const& y) {
    Turn turn(*this);
    if constexpr (std::is_same_v<T, double>) run_double(turn, bound, x, y);
    else detail::RunHead<BoundPlan::Plan::head_kind>::run(turn, bound, x, y);
}

}  // namespace fusekit::host
