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

namespace detail {

/// The launch of a pool's kernel whose blocks make `of_block` outputs each; as many outputs as params say are a slab
/// of `images`.
template <class Plan, class Mainloop>
FUSEKIT_H Result<Launch<typename Mainloop::Params>> prepare_pool(Gpu const& gpu, typename Mainloop::Params params,
                                                                 std::int64_t images, std::int64_t outputs,
                                                                 std::int64_t of_block) {
    std::int64_t const all = params.y.layout.shape[0], blocks = divide_up(outputs, of_block);
    if (images < all) params.slabs = {static_cast<unsigned>(blocks), 0, static_cast<int>(images)};
    return prepare_launch<Plan, Mainloop>(gpu, params, divide_up(all, images) * blocks);
}

}  // namespace detail

/// Prepares a plan without a Conv that pools whole planes.
template <Orders orders = Orders::any, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<PoolingParams<Plan, T, U>>> prepare_pooling(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                                    detail::ImageView<T const> const& x,
                                                                    detail::ImageView<U> const& y,
                                                                    IndexLimits const& limits = {}) {
    Index<4> const shape = y.layout.shape;
    if (detail::has_no_elements(shape))
        return launch_nothing(gpu, type_name<Plan>, PoolingParams<Plan, T, U>{bound, x, y, {shape, false}});
    std::int64_t const image = y.layout.size() / shape[0], plane = x.layout.shape[2] * x.layout.shape[3],
                       images = images_of_slab(shape[0], image, limits.outputs), outputs = images * image;
    if (Refusal refusal = refuse_limit(type_name<Plan>, "y", "an image of fewer than 2^31 elements", y.shape(), image,
                                       limits.outputs))
        return *refusal;
    if (Refusal refusal = refuse_limit(type_name<Plan>, "x", "planes of fewer than 2^31 elements", x.shape(), plane))
        return *refusal;
    bool const channels_are_last = channels_last(x.layout);
    PoolingParams<Plan, T, U> params{bound, x, y, {shape, channels_are_last}, static_cast<unsigned>(outputs)};
    params.image = FastDivmod(static_cast<unsigned>(image));
    params.columns = FastDivmod(static_cast<unsigned>(Plan::Pool::window(x.layout.shape, 0, 0).columns));
    using Alone = Pooling<Plan, T, U, 1>;
    using Row = Pooling<Plan, T, U, 32>;
    if constexpr (orders == Orders::any)
        if (!channels_are_last) return detail::prepare_pool<Plan, Row>(gpu, params, images, outputs, Row::threads / 32);
    return detail::prepare_pool<Plan, Alone>(gpu, params, images, outputs, Alone::threads);
}

/// Prepares a plan without a Conv that pools windows of a filter: in packets of channels of up to 16 bytes, where they
/// lie together. Operators that store write one element at a time, which threads of packets would not do as neighbours.
template <Orders = Orders::any, class Plan, Element T, detail::OutputElement U>
    requires requires { Plan::Pool::geometry; }
FUSEKIT_H Result<Launch<WindowPoolingParams<Plan, T, U>>> prepare_pooling(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                                          detail::ImageView<T const> const& x,
                                                                          detail::ImageView<U> const& y,
                                                                          IndexLimits const& limits = {}) {
    Index<4> const shape = y.layout.shape;
    if (detail::has_no_elements(shape))
        return launch_nothing(gpu, type_name<Plan>, WindowPoolingParams<Plan, T, U>{bound, x, y, {shape, false}});
    std::int64_t const image = y.layout.size() / shape[0], images = images_of_slab(shape[0], image, limits.outputs),
                       outputs = images * image;
    if (Refusal refusal = refuse_limit(type_name<Plan>, "y", "an image of fewer than 2^31 elements", y.shape(), image,
                                       limits.outputs))
        return *refusal;
    WindowPoolingParams<Plan, T, U> params{bound, x, y, {y.layout.shape, channels_last(x.layout)}};
    params.image = FastDivmod(static_cast<unsigned>(image));
    auto const prepare = [&]<int lanes>(WindowPooling<Plan, T, U, lanes>*) {
        using Mainloop = WindowPooling<Plan, T, U, lanes>;
        params.packets = static_cast<unsigned>(outputs / lanes);
        return detail::prepare_pool<Plan, Mainloop>(gpu, params, images, outputs, Mainloop::threads * lanes);
    };
    constexpr int most = (min)(8, 16 / static_cast<int>(sizeof(Wider<T, U>)));
    if constexpr (!Plan::Epilogue::stores)
        if (problem::vectorizable<T const>(x, most, 1) && problem::vectorizable<U>(y, most, 1))
            return prepare(static_cast<WindowPooling<Plan, T, U, most>*>(nullptr));
    return prepare(static_cast<WindowPooling<Plan, T, U, 1>*>(nullptr));
}

}  // namespace fusekit::hip
