// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/orders.hpp"
#include "fusekit/backend/hip/mainloop/pooling.hpp"
#include "fusekit/backend/hip/mainloop/window_pooling.hpp"
#include "fusekit/backend/hip/runtime/launch.hpp"
#include "fusekit/backend/hip/tuning/policy.hpp"
#include "fusekit/backend/integer.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::hip {

/// Prepares a plan without a Conv that pools whole planes.
template <Orders orders = Orders::any, class Plan, Element T, detail::OutputElement U>
Result<Launch<PoolingParams<Plan, T, U>>> prepare_pooling(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                          detail::ImageView<T const> const& x,
                                                          detail::ImageView<U> const& y) {
    Index<4> const shape = y.layout.shape;
    std::int64_t const outputs = y.layout.size(), plane = x.layout.shape[2] * x.layout.shape[3];
    if (Refusal refusal = refuse_limit(type_name<Plan>, "y", "fewer than 2^31 elements", y.shape(), outputs))
        return *refusal;
    if (Refusal refusal = refuse_limit(type_name<Plan>, "x", "planes of fewer than 2^31 elements", x.shape(), plane))
        return *refusal;
    bool const channels_are_last = channels_last(x.layout);
    PoolingParams<Plan, T, U> params{bound, x, y, {shape, channels_are_last}, static_cast<unsigned>(outputs)};
    if (outputs == 0) return launch_nothing(gpu, type_name<Plan>, params);
    params.image = FastDivmod(static_cast<unsigned>(outputs / shape[0]));
    params.columns = FastDivmod(static_cast<unsigned>(Plan::Pool::window(x.layout.shape, 0, 0).columns));
    using Alone = Pooling<Plan, T, U, 1>;
    using Row = Pooling<Plan, T, U, 32>;
    if constexpr (orders == Orders::any)
        if (!channels_are_last)
            return prepare_launch<Plan, Row>(gpu, params, detail::divide_up(outputs * 32, Row::threads));
    return prepare_launch<Plan, Alone>(gpu, params, detail::divide_up(outputs, Alone::threads));
}

/// Prepares a plan without a Conv that pools windows of a filter: in packets of channels of up to 16 bytes, where they
/// lie together. Operators that store write one element at a time, which threads of packets would not do as neighbours.
template <Orders = Orders::any, class Plan, Element T, detail::OutputElement U>
    requires requires { Plan::Pool::geometry; }
Result<Launch<WindowPoolingParams<Plan, T, U>>> prepare_pooling(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                                detail::ImageView<T const> const& x,
                                                                detail::ImageView<U> const& y) {
    std::int64_t const outputs = y.layout.size();
    if (Refusal refusal = refuse_limit(type_name<Plan>, "y", "fewer than 2^31 elements", y.shape(), outputs))
        return *refusal;
    WindowPoolingParams<Plan, T, U> params{bound, x, y, {y.layout.shape, channels_last(x.layout)}};
    if (outputs == 0) return launch_nothing(gpu, type_name<Plan>, params);
    params.image = FastDivmod(static_cast<unsigned>(outputs / y.layout.shape[0]));
    auto const prepare = [&]<int lanes>(WindowPooling<Plan, T, U, lanes>*) {
        using Mainloop = WindowPooling<Plan, T, U, lanes>;
        params.packets = static_cast<unsigned>(outputs / lanes);
        return prepare_launch<Plan, Mainloop>(gpu, params, detail::divide_up(outputs / lanes, Mainloop::threads));
    };
    constexpr int most = min(8, 16 / static_cast<int>(sizeof(Wider<T, U>)));
    if constexpr (!Plan::Epilogue::stores)
        if (problem::vectorizable<T const>(x, most, 1) && problem::vectorizable<U>(y, most, 1))
            return prepare(static_cast<WindowPooling<Plan, T, U, most>*>(nullptr));
    return prepare(static_cast<WindowPooling<Plan, T, U, 1>*>(nullptr));
}

}  // namespace fusekit::hip
