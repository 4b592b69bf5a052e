// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/depthwise_tiles.hpp"
#include "fusekit/backend/hip/dispatch/depthwise.hpp"
#include "fusekit/backend/hip/dispatch/split.hpp"
#include "fusekit/backend/hip/dispatch/split_pixels.hpp"
#include "fusekit/backend/hip/mainloop/depthwise_halo_weight_gradient.hpp"
#include "fusekit/backend/hip/mainloop/depthwise_weight_gradient.hpp"
#include "fusekit/backend/hip/tuning/depthwise_gradient.hpp"
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
    tiles.multiplier = static_cast<int>(shape[1] / Plan::Head::geometry(params.bound.head).group_count);
    constexpr int of_row = widest_vector(static_cast<int>(sizeof(T)), Shape::columns);
    tiles.dy_vector = vector_along(dy, along_channels ? Shape::channels : of_row, along_channels ? 1 : 3);
    if (!along_channels)
        tiles.x_vector =
            vector_along(params.x, widest_vector(static_cast<int>(sizeof(T)), Shape::columns * filter.strides[1]), 3);
    else if (tiles.multiplier == 1) tiles.x_vector = vector_along(params.x, Shape::channels, 1);

    std::int64_t const vectors = divide_up(shape[1], Shape::channels), columns = divide_up(shape[3], Shape::columns);
    constexpr unsigned max_bits = 5;
    static_assert(Shape::max_lanes == 1 << max_bits);
    if (along_channels) tiles.lane_bits = lane_bits_of_channels(vectors, max_bits);
    else
        while (tiles.lane_bits < max_bits && std::int64_t{1} << tiles.lane_bits < vectors &&
               Shape::threads >> tiles.lane_bits > shape[0] * shape[2] * columns)
            ++tiles.lane_bits;
    std::int64_t const count = divide_up(vectors, std::int64_t{1} << tiles.lane_bits),
                       item_threads = Shape::threads >> tiles.lane_bits;
    tiles.tiles = static_cast<unsigned>(count);
    constexpr std::int64_t bytes = Mainloop::Accumulators::floats * sizeof(float);
    GradientSplitLimits const limits = split_limits(gpu, workspace_bytes, bytes);
    GradientSplit best{1, 1, 1, 1};
    double least = 0;
    constexpr std::int64_t max_rows = 64;  // bounds rounding errors of an item's sums
    std::int64_t last_rows = 0;
    for (std::int64_t most = max_rows; most > 0; --most) {
        std::int64_t const down = divide_up(shape[2], most), rows = divide_up(shape[2], down),
                           items = shape[0] * down * columns;
        if (rows == last_rows) continue;
        last_rows = rows;
        double const of_item =
            static_cast<double>(rows * filter.strides[0] + Shape::window_rows) * DepthwiseGradientTileCosts::row;
        std::int64_t const of_cta = divide_up(items, item_threads);
        for (std::int64_t blocks = 1; blocks <= Shape::blocks; ++blocks)
            for_each_split(limits, count, of_cta, blocks, [&](GradientSplit const& split) {
                auto const rounds = static_cast<double>(split.waves * divide_up(of_cta, split.count()));
                double const cycles = rounds * of_item + split.merge_cycles(bytes);
                if (least != 0 && cycles >= least) return;
                best = split, least = cycles;
                tiles.rows = static_cast<int>(rows);
            });
    }
    std::int64_t const down = divide_up(shape[2], std::int64_t{tiles.rows});
    tiles.column_tiles = FastDivmod(static_cast<std::uint32_t>(columns));
    tiles.row_tiles = FastDivmod(static_cast<std::uint32_t>(down));
    tiles.items = static_cast<unsigned>(shape[0] * down * columns);
    return prepare_split_gradient(gpu, kernel_of<Plan, Mainloop>(), params, count, best, bytes);
}

/// Prepares a launch of DepthwiseHaloWeightGradient; empty if it cannot compute the weight gradient. Precondition:
/// runs_depthwise_gradient().
template <class Plan, Element T, OutputElement U>
FUSEKIT_H Maybe<Launch<WeightGradientParams<Plan, T, U>>> prepare_depthwise_halo_gradient(
    Gpu const& gpu, WeightGradientParams<Plan, T, U> params, std::size_t workspace_bytes) {
    using Mainloop = DepthwiseHaloWeightGradient<Plan, T, U>;
    constexpr auto filter = Plan::Head::collapsed;
    auto const kernel = kernel_of<Plan, Mainloop>();
    auto const geometry = Plan::Head::geometry(params.bound.head);
    TensorView<T const> const dy = without_idle_strides(typed<T>(params.bound.head.dy));
    auto const are_vectors = [&](int count) {
        return problem::vectorizable(params.x, count, 1) && problem::vectorizable(dy, count, 1);
    };
    // With fewer channels than half a unit, DepthwiseWeightGradient is faster for small filters.
    constexpr int least_channels = filter.size[0] * filter.size[1] < 20 ? DepthwiseHaloGradientTiles::unit / 2 : 1;
    if (dy.layout.shape[1] != geometry.group_count || geometry.group_count < least_channels || !are_vectors(2) ||
        !with_tag(
            gpu.architecture(), []<class Tag>(Tag) { return std::is_base_of_v<arch::Sm80, Tag>; }) ||
        !kernel.is_launchable(gpu.index()))
        return {};
    using Shape = DepthwiseHaloGradientShape<filter.size[0], filter.size[1]>;
    constexpr std::int64_t bytes = Mainloop::Accumulators::floats * sizeof(float);
    auto const choice = choose_halo_gradient<Shape>(geometry, dy.layout.shape, are_vectors(8) ? 16 : 4,
                                                    split_limits(gpu, workspace_bytes, bytes));
    if (choice.tiles.items == 0) return {};
    params.depthwise.halo = choice.tiles;
    auto launch = prepare_split_gradient(gpu, kernel, params, choice.tiles.units, choice.split, bytes);
    if (!launch) return {};
    Launch<WeightGradientParams<Plan, T, U>> result = *launch;
    constexpr int sums = sizeof(typename Mainloop::Accumulators);
    result.shared_bytes = static_cast<unsigned>((max)(choice.shared_bytes(), sums));
    return result;
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
