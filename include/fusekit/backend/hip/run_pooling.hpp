// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/launch.hpp"
#include "fusekit/backend/hip/pooling.hpp"
#include "fusekit/backend/integer.hpp"

namespace fusekit::hip {

/// Runs a plan without a Conv that pools.
template <class Plan, Element T>
void run_pooling(Device const& device, BoundPlan<Plan> const& bound, TensorView<T const> const& x,
                 TensorView<T> const& y) {
    Shape<4> const shape = y.layout.shape;
    std::int64_t const outputs = y.layout.size(), plane = x.layout.shape[2] * x.layout.shape[3];
    check_limit(type_name<Plan>, "y", "fewer than 2^31 elements", shape, outputs);
    check_limit(type_name<Plan>, "x", "planes of fewer than 2^31 elements", x.layout.shape, plane);
    bool const channels_are_last = channels_last(x.layout);
    PoolingParams<Plan, T> params{bound, x, y, {shape, channels_are_last}, static_cast<unsigned>(outputs)};
    params.image = FastDivmod(static_cast<unsigned>(outputs / shape[0]));
    params.columns = FastDivmod(static_cast<unsigned>(Plan::Pool::window(x.layout.shape)[1]));
    constexpr int most_lanes = Plan::Pool::fits_tile ? 1 : 32;
    using Alone = Pooling<Plan, T, 1>;
    using Row = Pooling<Plan, T, most_lanes>;
    if (channels_are_last) launch<Plan, Alone>(device, params, divide_up(outputs, Alone::threads));
    else launch<Plan, Row>(device, params, divide_up(outputs * most_lanes, Row::threads));
}

}  // namespace fusekit::hip
