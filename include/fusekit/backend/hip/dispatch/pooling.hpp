// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/orders.hpp"
#include "fusekit/backend/hip/mainloop/channel_pooling.hpp"
#include "fusekit/backend/hip/mainloop/pooling.hpp"
#include "fusekit/backend/hip/mainloop/window_pooling.hpp"
#include "fusekit/backend/hip/runtime/launch.hpp"
#include "fusekit/backend/hip/tuning/policy.hpp"
#include "fusekit/backend/integer.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::hip {

namespace detail {

/// Prepares a launch of a pool's kernel, whose CTAs compute `of_block` outputs each. The batch is divided into ranges
/// of `images` images with `outputs` outputs, and CTAs are numbered range after range (slabs.hpp).
template <class Plan, class Mainloop>
FUSEKIT_H Result<Launch<typename Mainloop::Params>> prepare_pool(Gpu const& gpu, typename Mainloop::Params params,
                                                                 std::int64_t images, std::int64_t outputs,
                                                                 std::int64_t of_block) {
    std::int64_t const all = params.y.layout.shape[0], blocks = divide_up(outputs, of_block);
    if (images < all) params.slabs = {static_cast<unsigned>(blocks), 0, static_cast<int>(images)};
    return prepare_launch<Plan, Mainloop>(gpu, params, divide_up(all, images) * blocks);
}

/// Ranges of images of a pool's batch (slabs.hpp). image: outputs per image (K P Q); images: images per range; outputs:
/// outputs per range. All are 0 if y has no elements.
struct PoolSlabs {
    std::int64_t image = 0, images = 0, outputs = 0;
};

/// Divides a pool's batch into ranges of images with fewer outputs than 32 bits can count. Returns an Error if one
/// image has 2^31 outputs or more.
template <class Plan>
FUSEKIT_H Result<PoolSlabs> cut_pool(CollapsedShape<4> const& y, IndexLimits const& limits) {
    if (has_no_elements(y)) return PoolSlabs{};
    std::int64_t const image = y[1] * y[2] * y[3], images = images_of_slab(y[0], image, limits.outputs);
    if (Refusal refusal =
            refuse_limit(type_name<Plan>, "y", "an image of fewer than 2^31 elements", y, image, limits.outputs))
        return *refusal;
    return PoolSlabs{image, images, images * image};
}

/// Prepares a launch of a kernel whose threads compute `lanes` adjacent outputs each (image_packet_params.hpp).
template <class Plan, class Mainloop, int lanes>
FUSEKIT_H Result<Launch<typename Mainloop::Params>> prepare_packets(Gpu const& gpu, typename Mainloop::Params params,
                                                                    PoolSlabs const& slabs) {
    params.image = FastDivmod(static_cast<unsigned>(slabs.image));
    params.packets = static_cast<unsigned>(slabs.outputs / lanes);
    return prepare_pool<Plan, Mainloop>(gpu, params, slabs.images, slabs.outputs, Mainloop::threads * lanes);
}

/// Prepares a launch of ChannelPooling: CTAs of 8 packets, 128 bytes of half, or fewer packets if an SM would have less
/// than two CTAs, and then clusters. Precondition: CTAs are fewer than 2^31.
template <int lanes, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<PoolingParams<Plan, T, U>>> prepare_channel_pooling(Gpu const& gpu,
                                                                            PoolingParams<Plan, T, U> params) {
    using Mainloop = ChannelPooling<Plan, T, U, lanes>;
    Index<4> const& shape = params.x.layout.shape;
    std::int64_t const packets = shape[1] / lanes, wanted = std::int64_t{gpu.processors()} * Mainloop::blocks;
    auto const tiles = [&] { return divide_up(packets, params.width); };
    params.width = 8;
    while (params.width > 2 && shape[0] * tiles() < wanted) params.width /= 2;
    if constexpr (kernels_cluster)
        if (launches_clusters(gpu.architecture()))
            while (params.cluster < max_cluster_blocks && shape[0] * tiles() * params.cluster < wanted &&
                   shape[2] * shape[3] * params.width > std::int64_t{Mainloop::threads} * 8 * params.cluster)
                params.cluster *= 2;
    params.tiles = FastDivmod(static_cast<unsigned>(tiles()));
    return prepare_launch<Plan, Mainloop>(gpu, params, shape[0] * tiles() * params.cluster, Mainloop::threads,
                                          params.cluster > 1 ? LaunchMode::clusters : LaunchMode::plain, 0,
                                          params.cluster);
}

}  // namespace detail

/// Prepares a launch of a plan without a Conv whose pool reduces whole planes.
template <Orders orders = Orders::any, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<PoolingParams<Plan, T, U>>> prepare_pooling(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                                    detail::ImageView<T const> const& x,
                                                                    detail::ImageView<U> const& y,
                                                                    IndexLimits const& limits = {}) {
    auto const slabs = detail::cut_pool<Plan>(y.shape(), limits);
    if (!slabs) return slabs.error();
    auto const [image, images, outputs] = *slabs;
    bool const channels_are_last = outputs > 0 && channels_last(x.layout);
    PoolingParams<Plan, T, U> params{bound, x, y, {y.layout.shape, channels_are_last}, static_cast<unsigned>(outputs)};
    if (outputs == 0) return launch_nothing(gpu, type_name<Plan>, params);
    if (Refusal refusal = refuse_limit(type_name<Plan>, "x", "planes of fewer than 2^31 elements", x.shape(),
                                       x.layout.shape[2] * x.layout.shape[3]))
        return *refusal;
    params.image = FastDivmod(static_cast<unsigned>(image));
    params.columns = FastDivmod(static_cast<unsigned>(Plan::Pool::window(x.layout.shape, 0, 0).columns));
    constexpr int most = packet_elements<T, U>;
    if constexpr (!Plan::Epilogue::stores)
        if (problem::vectorizable<T const>(x, most, 1) && problem::vectorizable<U>(y, most, 1) &&
            x.layout.shape[0] * x.layout.shape[1] < std::int64_t{1} << 28)
            return detail::prepare_channel_pooling<most>(gpu, params);
    using Alone = Pooling<Plan, T, U, 1>;
    using Row = Pooling<Plan, T, U, 32>;
    if constexpr (orders == Orders::any)
        if (!channels_are_last) return detail::prepare_pool<Plan, Row>(gpu, params, images, outputs, Row::threads / 32);
    return detail::prepare_pool<Plan, Alone>(gpu, params, images, outputs, Alone::threads);
}

/// Prepares a launch of a plan without a Conv that pools windows. Contiguous channels are read in packets of up to 16
/// bytes. If an operator stores a tensor, one element is read at a time, because threads with packets would store with
/// a stride.
template <Orders = Orders::any, class Plan, Element T, detail::OutputElement U>
    requires requires { Plan::Pool::geometry; }
FUSEKIT_H Result<Launch<ImagePacketParams<Plan, T, U>>> prepare_pooling(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                                        detail::ImageView<T const> const& x,
                                                                        detail::ImageView<U> const& y,
                                                                        IndexLimits const& limits = {}) {
    auto const slabs = detail::cut_pool<Plan>(y.shape(), limits);
    if (!slabs) return slabs.error();
    ImagePacketParams<Plan, T, U> const params{
        bound, x, y, {y.layout.shape, slabs->outputs > 0 && channels_last(x.layout)}};
    if (slabs->outputs == 0) return launch_nothing(gpu, type_name<Plan>, params);
    constexpr int most = packet_elements<T, U>;
    if constexpr (!Plan::Epilogue::stores)
        if (problem::vectorizable<T const>(x, most, 1) && problem::vectorizable<U>(y, most, 1))
            return detail::prepare_packets<Plan, WindowPooling<Plan, T, U, most>, most>(gpu, params, *slabs);
    return detail::prepare_packets<Plan, WindowPooling<Plan, T, U, 1>, 1>(gpu, params, *slabs);
}

}  // namespace fusekit::hip
