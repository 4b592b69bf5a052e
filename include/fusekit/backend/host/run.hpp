// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/host/implicit_gemm.hpp"
#include "fusekit/backend/host/pointwise.hpp"
#include "fusekit/plan/plan.hpp"

namespace fusekit::host {

namespace detail {

template <Element T>
TensorView<T const> typed(AnyView<4> const& view) {
    if constexpr (std::same_as<T, float>) return {view.float32, view.layout};
    else if constexpr (std::same_as<T, half>) return {view.float16, view.layout};
    else return {view.bfloat16, view.layout};
}

}  // namespace detail

template <class Bound, Element T>
void Device::run(Bound const& bound, TensorView<T const> const& x, TensorView<T> const& y) {
    using Plan = typename Bound::Plan;
    using Epilogue = typename Plan::Epilogue;
    Turn turn(*this);
    if constexpr (Plan::has_conv) {
        ConvProblem<T> const conv{x, detail::typed<T>(bound.head.weights), y.layout.shape, Plan::Head::geometry(bound.head)};
        if (y.layout.stride[1] == 1 && y.layout.shape[1] > 1) conv_channel_lanes<Epilogue>(turn, conv, bound.epilogue, y);
        else conv_pixel_lanes<Epilogue>(turn, conv, bound.epilogue, y);
    } else {
        pointwise<Epilogue>(turn, x, y, bound.epilogue);
    }
}

}  // namespace fusekit::host
