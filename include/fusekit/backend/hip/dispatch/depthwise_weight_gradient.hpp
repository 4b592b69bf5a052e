// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/depthwise_tiles.hpp"
#include "fusekit/backend/hip/dispatch/depthwise.hpp"
#include "fusekit/backend/hip/dispatch/split.hpp"
#include "fusekit/backend/hip/dispatch/split_pixels.hpp"
#include "fusekit/backend/hip/mainloop/depthwise_halo_weight_gradient.hpp"
#include "fusekit/backend/hip/mainloop/depthwise_weight_gradient.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::hip::detail {

/// True if DepthwiseWeightGradient computes a weight gradient: each group has one channel of x, and columns of x and dy
/// have 32-bit offsets. Precondition: x and dy have elements.
template <class Plan, Element T, OutputElement U>
FUSEKIT_H bool runs_depthwise_gradient(WeightGradientParams<Plan, T, U> const& params) {
    constexpr std::int64_t most = std::int64_t{1} << 24;
    auto const steps_less = [](Layout<4> const& of) {
        return of.shape[3] == 1 || (of.stride[3] <= most && of.stride[3] >= -most);
    };
    Index<4> const& dy = params.bound.head.dy.layout.shape;
    return params.y.layout.shape[1] == 1 && steps_less(params.x.layout) && steps_less(params.bound.head.dy.layout) &&
           dy[0] * dy[2] * dy[3] < (std::int64_t{1} << 31);
}

/// Returns log2 of the number of a CTA's threads along the channels, at most `max_bits`, for `vectors` threads' worth
/// of channels. Prefers the widest, whose accesses are contiguous, among those that leave fewer than a ninth of the
/// threads without channels.
FUSEKIT_H constexpr unsigned lane_bits_of_channels(std::int64_t vectors, unsigned max_bits) {
    unsigned bits = 0;
    while (bits < max_bits && std::int64_t{1} << bits < vectors) ++bits;
    for (; bits > 3; --bits) {
        std::int64_t const threads = divide_up(vectors, std::int64_t{1} << bits) << bits;
        if (9 * (threads - vectors) < threads) break;
    }
    return bits;
}
static_assert(lane_bits_of_channels(48, 5) == 4 && lane_bits_of_channels(58, 5) == 5 &&
              lane_bits_of_channels(3, 5) == 2 && lane_bits_of_channels(1, 5) == 0);

template <Axis fast, class Plan, Element T, OutputElement U>
FUSEKIT_H Result<Launch<WeightGradientParams<Plan, T, U>>> prepare_depthwise_gradient_along(
    Gpu const& gpu, WeightGradientParams<Plan, T, U> params, std::size_t workspace_bytes) {
    constexpr auto filter = Plan::Head::collapsed;
    constexpr bool along_channels = fast == Axis::channel;
    using Shape = GradientShapeOf<filter, static_cast<int>(sizeof(T)), fast>;
    using Mainloop = DepthwiseWeightGradient<Plan, T, U, fast>;
    TensorView<T const> dy = without_idle_strides(typed<T>(params.bound.head.dy));
    Index<4> const& shape = dy.layout.shape;
    DepthwiseGradientTiles& tiles = params.depthwise;
    tiles.multiplier = static_cast<int>(shape[1] / filter.group_count);
    constexpr int of_row = widest_vector(static_cast<int>(sizeof(T)), Shape::columns);
    tiles.dy_vector = vector_along(dy, along_channels ? Shape::channels : of_row, along_channels ? 1 : 3);
    if (!along_channels)
        tiles.x_vector =
            vector_along(params.x, widest_vector(static_cast<int>(sizeof(T)), Shape::columns * filter.strides[1]), 3);
    else if (tiles.multiplier == 1) tiles.x_vector = vector_along(params.x, Shape::channels, 1);

    std::int64_t const vectors = divide_up(shape[1], Shape::channels), columns = divide_up(shape[3], Shape::columns),
                       at_once = std::int64_t{gpu.processors()} * Shape::blocks;
    tiles.rows = DepthwiseTiles::best_rows(shape[2], shape[0] * vectors * columns, at_once * Shape::threads,
                                           Shape::window_rows, filter.strides[0]);
    std::int64_t const rows = divide_up(shape[2], tiles.rows), items = shape[0] * rows * columns;
    tiles.column_tiles = FastDivmod(static_cast<std::uint32_t>(columns));
    tiles.row_tiles = FastDivmod(static_cast<std::uint32_t>(rows));
    tiles.items = static_cast<unsigned>(items);
    constexpr unsigned max_bits = 5;
    static_assert(Shape::max_lanes == 1 << max_bits);
    if (along_channels) tiles.lane_bits = lane_bits_of_channels(vectors, max_bits);
    else
        while (tiles.lane_bits < max_bits && std::int64_t{1} << tiles.lane_bits < vectors &&
               Shape::threads >> tiles.lane_bits > items)
            ++tiles.lane_bits;
    std::int64_t const count = divide_up(vectors, std::int64_t{1} << tiles.lane_bits),
                       item_threads = Shape::threads >> tiles.lane_bits;
    tiles.tiles = static_cast<unsigned>(count);
    constexpr std::int64_t bytes = Mainloop::Accumulators::floats * sizeof(float);
    SplitKGroups const& split_k = params.split_k = choose_split_k(
        launches_clusters(gpu), count, 1, at_once, divide_up(items, item_threads), bytes, workspace_bytes);
    return prepare_launch(
        gpu, kernel_of<Plan, Mainloop>(), params, count * split_k.count(),
        split_k.cluster > 1 ? LaunchMode::clusters : LaunchMode::plain,
        split_k.groups > 1 ? GroupWorkspace::state_bytes + static_cast<std::size_t>(count * split_k.groups * bytes) : 0,
        split_k.cluster);
}

/// Prepares a launch of DepthwiseHaloWeightGradient; empty if it cannot compute the weight gradient. Precondition:
/// runs_depthwise_gradient().
template <class Plan, Element T, OutputElement U>
FUSEKIT_H Maybe<Launch<WeightGradientParams<Plan, T, U>>> prepare_depthwise_halo_gradient(
    Gpu const& gpu, WeightGradientParams<Plan, T, U> params, std::size_t workspace_bytes) {
    using Mainloop = DepthwiseHaloWeightGradient<Plan, T, U>;
    using Tiles = DepthwiseHaloGradientTiles;
    constexpr auto filter = Plan::Head::collapsed;
    auto const kernel = kernel_of<Plan, Mainloop>();
    TensorView<T const> const dy = without_idle_strides(typed<T>(params.bound.head.dy));
    if (dy.layout.shape[1] != filter.group_count || !problem::vectorizable(params.x, 8, 1) ||
        !problem::vectorizable(dy, 8, 1) || dy.layout.shape[1] % 8 != 0 ||
        !with_tag(gpu.architecture(), []<class Tag>(Tag) { return std::is_base_of_v<arch::Sm80, Tag>; }) ||
        !kernel.is_launchable(gpu.index()))
        return {};
    Tiles const& tiles = params.depthwise.halo =
        choose_halo_gradient_tiles<DepthwiseHaloGradientShape<filter.size[0], filter.size[1]>>(filter, dy.layout.shape,
                                                                                               gpu.processors());
    if (tiles.items == 0) return {};
    constexpr std::int64_t bytes = Mainloop::Accumulators::floats * sizeof(float);
    std::int64_t const units = tiles.units, resident = halo_gradient_splits(units, gpu.processors()),
                       splits = resident < tiles.items ? resident : tiles.items;
    SplitKGroups& split_k = params.split_k =
        choose_split_k(launches_clusters(gpu), units, 1, units * splits, splits, bytes, workspace_bytes);
    // Clusters of 5 to 8 CTAs, of which most are resident
    unsigned const max_groups = split_k.groups;
    for (unsigned cluster = split_k.cluster; max_groups > 1 && cluster > 4; --cluster)
        if (unsigned const groups = static_cast<unsigned>(splits) / cluster;
            groups <= max_groups && (split_k.count() > splits || groups * cluster > split_k.count()))
            split_k.cluster = cluster, split_k.groups = groups;
    auto const launch = prepare_launch(
        gpu, kernel, params, units * split_k.count(), split_k.cluster > 1 ? LaunchMode::clusters : LaunchMode::plain,
        split_k.groups > 1 ? GroupWorkspace::state_bytes + static_cast<std::size_t>(units * split_k.groups * bytes) : 0,
        split_k.cluster);
    if (!launch) return {};
    return *launch;
}

/// Prepares a launch of DepthwiseWeightGradient. Precondition: runs_depthwise_gradient().
template <class Plan, Element T, OutputElement U>
FUSEKIT_H Result<Launch<WeightGradientParams<Plan, T, U>>> prepare_depthwise_gradient(
    Gpu const& gpu, WeightGradientParams<Plan, T, U> const& params, std::size_t workspace_bytes) {
    if constexpr (has_depthwise_halo_weight_gradient<Plan, T>)
        if (auto const launch = prepare_depthwise_halo_gradient(gpu, params, workspace_bytes)) return *launch;
    if (problem::channels_are_contiguous(params.bound.head.dy.layout))
        return prepare_depthwise_gradient_along<Axis::channel>(gpu, params, workspace_bytes);
    return prepare_depthwise_gradient_along<Axis::pixel>(gpu, params, workspace_bytes);
}

}  // namespace fusekit::hip::detail
