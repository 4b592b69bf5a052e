// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/mainloop/pooling.hpp"
#include "fusekit/backend/hip/runtime/launch.hpp"
#include "fusekit/backend/integer.hpp"

namespace fusekit::hip {

/// Prepares a plan without a Conv that pools.
template <class Plan, Element T, detail::OutputElement U>
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
    params.image = FastDivmod(static_cast<unsigned>(outputs / shape[0]));
    params.columns = FastDivmod(static_cast<unsigned>(Plan::Pool::window(x.layout.shape)[1]));
    constexpr int most_lanes = Plan::Pool::fits_tile ? 1 : 32;
    using Alone = Pooling<Plan, T, U, 1>;
    using Row = Pooling<Plan, T, U, most_lanes>;
    if (channels_are_last) return prepare_launch<Plan, Alone>(gpu, params, detail::divide_up(outputs, Alone::threads));
    return prepare_launch<Plan, Row>(gpu, params, detail::divide_up(outputs * most_lanes, Row::threads));
}

}  // namespace fusekit::hip
