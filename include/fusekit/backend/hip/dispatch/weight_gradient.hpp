// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include "fusekit/backend/hip/conv_limits.hpp"
#include "fusekit/backend/hip/dispatch/bulk_weight_gradient.hpp"
#include "fusekit/backend/hip/dispatch/depthwise_weight_gradient.hpp"
#include "fusekit/backend/hip/dispatch/few_pixels_weight_gradient.hpp"
#include "fusekit/backend/hip/dispatch/fold_patches.hpp"
#include "fusekit/backend/hip/dispatch/grouped_weight_gradient.hpp"
#include "fusekit/backend/hip/dispatch/stem_weight_gradient.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient.hpp"
#include "fusekit/backend/hip/tuning/amd.hpp"
#include "fusekit/plan/empty.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::hip {

namespace detail {

/// Selects the loads of x or dy: vectors of 8 or 4 channels if channels are contiguous and aligned and divide a group's
/// channels; else one element at a time, along channels or along pixels, whichever is contiguous.
template <Element T>
FUSEKIT_H ContiguousMode contiguous_mode_of(TensorView<T const> const& view, std::int64_t group_channels) {
    auto const in_packets = [&](int count) {
        return group_channels % count == 0 && problem::vectorizable(view, count, 1);
    };
    if (sizeof(T) == 2 && in_packets(8)) return ContiguousMode::channels_by_8;
    if (in_packets(4)) return ContiguousMode::channels_by_4;
    return problem::channels_are_contiguous(view.layout) ? ContiguousMode::channels : ContiguousMode::pixels;
}

/// True if 32-bit byte offsets of AMD's buffer loads (Buffer) reach all elements of a tensor from its first one.
template <class T>
FUSEKIT_H bool fits_buffer(TensorView<T> const& view) {
    OffsetRange range;
    for (int mode = 0; mode < 4; ++mode) range.add(view.layout.shape[mode] - 1, view.layout.stride[mode]);
    return range.fits_buffer(sizeof(T));
}

/// True if quads of dy (four consecutive pixels) are contiguous, with dense rows and planes, and the sum of two offsets
/// in x (of a window row and of a window column) fits 32 bits: each offset is non-negative, and at most half of a
/// Buffer's range.
template <Element T>
FUSEKIT_H bool has_quads_of_dy(TensorView<T const> const& x, TensorView<T const> const& dy) {
    Index<4> const &of_dy = dy.layout.shape, &in_dy = dy.layout.stride;
    bool const follow = (of_dy[3] == 1 || in_dy[3] == 1) && (of_dy[2] == 1 || in_dy[2] == of_dy[3]);
    OffsetRange range;
    bool negative = false;
    for (int mode = 0; mode < 4; ++mode) {
        range.add(x.layout.shape[mode] - 1, x.layout.stride[mode]);
        negative |= x.layout.stride[mode] < 0;
    }
    return follow && of_dy[2] * of_dy[3] >= 4 && !negative && range.fits_buffer(2 * sizeof(T));
}

/// True if WindowOffsets has entries for all rows and columns of a window.
template <Element T, int Space>
FUSEKIT_H bool fits_window_offsets(Filter<Space> const& filter) {
    int rows = 1;
    for (int mode = 0; mode < Space - 1; ++mode) rows *= filter.size[mode];
    return rows + filter.size[Space - 1] <= WindowOffsets<T>::max_lines;
}

/// True if the kernel WeightGradientRows can compute a weight gradient of this geometry:
///   under each filter tap, four consecutive pixels of a row of y read 4 (stride 1) or 8 (stride 2) consecutive
///   elements of a row of x, which is unit-stride; rows of y, which the kernel pads to whole k-tiles, have more than
///   half of the padded pixels; C / groups is a multiple of 8 and K / groups of 4; rows of x do not overlap in memory,
///   so that only the first and last four pixels of a row of y read out of bounds.
template <Element T>
FUSEKIT_H bool fits_gradient_rows(Filter<2> const& filter, TensorView<T const> const& x, Index<4> const& dy,
                                  std::int64_t group_c, std::int64_t group_k) {
    Index<4> const &of_x = x.layout.shape, &in_x = x.layout.stride;
    bool apart = true;
    for (int const mode : {0, 2}) apart = apart && (of_x[mode] == 1 || in_x[mode] >= 4 * filter.strides[1] - 1);
    return has_row_offsets<T>(filter) && in_x[3] == 1 && apart && group_c % 8 == 0 && group_k % 4 == 0 &&
           2 * dy[3] > PaddedRows::of_row(dy[3]) && dy[0] * PaddedRows::of_image(dy[2], dy[3]) < std::int64_t{1} << 30;
}

/// For 1x1 windows, merges the dense rows of each image of x and dy into one row, which needs less padding.
template <class X, class Dy>
FUSEKIT_H void make_one_row(Filter<2> const& filter, X& x, Dy& dy) {
    Index<4> const &shape = x.shape, &stride = x.stride;
    if (!is_single_pixels(filter) || (shape[2] > 1 && stride[2] != shape[3])) return;
    for (Index<4>* of : {&x.shape, &dy.shape}) (*of)[3] *= (*of)[2], (*of)[2] = 1;
    x.stride[2] = dy.stride[2] = 0;
}

/// True if GPUs of an architecture have a kernel with the tile Tile. Tested at run time, because the host pass of AMD's
/// compiler has no target architecture.
template <class Tile, Element T>
FUSEKIT_H bool has_tile(Architecture architecture) {
    return with_tag(architecture, []<class Tag>(Tag) { return has_weight_gradient<Tile, T, Tag>; });
}

/// True if wide tiles (WideWeightGradientTile) leave few of their channels unused, for `group_k` channels of y in a
/// group.
FUSEKIT_H constexpr bool fill_wide_tiles(std::int64_t group_k) {
    using Narrow = WeightGradientTile;
    using Wide = WideWeightGradientTile;
    constexpr int idle = AmdTuning::idle_wide_gradient_tiles;
    return idle * Wide::n * divide_up(group_k, Wide::n) <= (idle + 1) * Narrow::n * divide_up(group_k, Narrow::n);
}
static_assert(!fill_wide_tiles(64) && fill_wide_tiles(65) && fill_wide_tiles(256) && !fill_wide_tiles(960) &&
              fill_wide_tiles(1088));

/// Prepares a launch of Mainloop, a WeightGradient. Empty if the GPU lacks a kernel with its tile, if channels are too
/// few for the tile, or if a CTA would reduce more than `max_pixels` pixels. `plane`: pixels per image of dy, including
/// those with which Mainloop pads it; each CTA reduces a multiple of `step` pixels.
template <class Mainloop, class Plan, Element T, OutputElement U>
FUSEKIT_H detail::Maybe<Result<Launch<WeightGradientParams<Plan, T, U>>>> prepare_weight_gradient_with(
    Gpu const& gpu, WeightGradientParams<Plan, T, U> params, std::int64_t plane, std::int64_t step,
    std::size_t workspace_bytes, std::int64_t max_pixels) {
    if (!has_tile<typename Mainloop::Tile, T>(gpu.architecture())) return {};
    auto const& dy = params.bound.head.dy;
    std::int64_t const groups = Plan::Head::geometry(params.bound.head).group_count,
                       group_k = params.y.layout.shape[0] / groups, images = dy.layout.shape[0],
                       pixels = images * dy.layout.shape[2] * dy.layout.shape[3];
    if (std::is_same_v<typename Mainloop::Tile, WideWeightGradientTile> && !fill_wide_tiles(group_k)) return {};
    std::int64_t const tiles =
        divide_up(params.columns(), Mainloop::tile_m) * divide_up(group_k, Mainloop::tile_n) * groups;
    constexpr std::int64_t split_bytes = Mainloop::passes * Mainloop::Accumulators::floats * sizeof(float);
    bool const clusters = launches_clusters(gpu);
    std::int64_t const at_once = std::int64_t{gpu.processors()} * Mainloop::blocks,
                       least = tiles * divide_up(images * plane, max_pixels);
    params.split_k =
        choose_split_k(clusters, tiles, Mainloop::passes, at_once > least ? at_once : least,
                       pixels > 0 ? divide_up(pixels, Mainloop::min_pixels) : 1, split_bytes, workspace_bytes);
    SplitKGroups const& split_k = params.split_k;
    std::int64_t const steps = divide_up(images * plane, step), split_pixels = divide_up(steps, split_k.count()) * step;
    if (split_pixels > max_pixels) return {};
    params.split_pixels = static_cast<int>(split_pixels);
    return prepare_launch(gpu, kernel_of<Plan, Mainloop>(), params, tiles * split_k.count(),
                          split_k.cluster > 1 ? LaunchMode::clusters : LaunchMode::plain,
                          split_k.groups > 1 ? GroupWorkspace::state_bytes +
                                                   static_cast<std::size_t>(tiles * split_k.groups * split_bytes)
                                             : 0,
                          split_k.cluster);
}
/// Prepares a launch of the first mainloop, in the order of the template arguments, that can compute the problem.
/// Returns an Error if the workspace is so small that a CTA would reduce more than `max_pixels` pixels.
template <class Mainloop, class... Others, class Plan, Element T, OutputElement U>
FUSEKIT_H Result<Launch<WeightGradientParams<Plan, T, U>>> prepare_first_weight_gradient(
    Gpu const& gpu, WeightGradientParams<Plan, T, U> const& params, std::int64_t plane, std::int64_t step,
    std::size_t workspace_bytes, std::int64_t max_pixels) {
    auto launch = prepare_weight_gradient_with<Mainloop>(gpu, params, plane, step, workspace_bytes, max_pixels);
    if (launch) return std::move(*launch);
    if constexpr (sizeof...(Others) > 0)
        return prepare_first_weight_gradient<Others...>(gpu, params, plane, step, workspace_bytes, max_pixels);
    Index<4> const& dy = params.bound.head.dy.layout.shape;
    return Error(type_name<Plan>(), "ConvWeightGradient", "workspace",
                 "more bytes for partial sums, as a CTA reduces at most 2^30 pixels",
                 Text::number(workspace_bytes) + " bytes for " + Text::number(dy[0] * dy[2] * dy[3]) + " pixels of dy");
}

/// Prepares a launch of WeightGradient, which computes any gradient with elements: selects its loads and its tile.
template <class Plan, Element T, OutputElement U>
FUSEKIT_H Result<Launch<WeightGradientParams<Plan, T, U>>> prepare_tiled_gradient(
    Gpu const& gpu, WeightGradientParams<Plan, T, U> params, std::size_t workspace_bytes,
    IndexLimits const& limits = {}) {
    auto const filter = Plan::Head::geometry(params.bound.head);
    auto const& dy = params.bound.head.dy;
    Index<4> const& dw = params.y.layout.shape;
    std::int64_t const group_k = dw[0] / filter.group_count;
    params.in_x = contiguous_mode_of<T>(params.x, dw[1]);
    params.in_dy = contiguous_mode_of<T>(typed<T>(dy), group_k);
    bool const fits_32bit_offsets = !params.in_slabs && fits_buffer(params.x) && fits_buffer(typed<T>(dy));
    constexpr ContiguousMode packets = sizeof(T) == 2 ? ContiguousMode::channels_by_8 : ContiguousMode::channels_by_4;
    auto const have_loop = [&](ContiguousMode contiguous) {
        return WeightGradientTile::of_amd && fits_32bit_offsets && params.in_x == contiguous &&
               params.in_dy == contiguous;
    };
    params.in_packets = have_loop(packets);
    bool const in_quads = have_loop(ContiguousMode::pixels) && has_quads_of_dy(params.x, typed<T>(dy));
    std::int64_t step = 1, plane = dy.layout.shape[2] * dy.layout.shape[3];
    if constexpr (WeightGradientTile::of_amd && sizeof(T) == 2 && Plan::Head::collapsed_space == 2)
        if (in_quads && fits_gradient_rows(filter, params.x, dy.layout.shape, dw[1], group_k)) {
            params.in_rows = true;
            params.in_x = ContiguousMode::channels_by_8;
            params.in_dy = ContiguousMode::channels_by_4;
            make_one_row(filter, params.x.layout, params.bound.head.dy.layout);
            Index<4> const& of_dy = params.bound.head.dy.layout.shape;
            step = 32;
            plane = PaddedRows::of_image(of_dy[2], of_dy[3]);
        }
    params.in_pixels = in_quads && have_loop(ContiguousMode::pixels) && fits_window_offsets<T>(filter);
    if (params.in_pixels) {
        step = 4;
        plane = WindowOffsets<T>::whole(plane);
    }
    if constexpr (WeightGradientTile::of_amd && sizeof(T) == 2) {
        if (params.in_packets)
            return prepare_first_weight_gradient<WeightGradient<Plan, T, U, WideWeightGradientTile>,
                                                 WeightGradient<Plan, T, U>>(gpu, params, plane, step, workspace_bytes,
                                                                             limits.block_pixels);
    }
    return prepare_first_weight_gradient<WeightGradient<Plan, T, U>>(gpu, params, plane, step, workspace_bytes,
                                                                     limits.block_pixels);
}

}  // namespace detail

/// Prepares a launch of a ConvWeightGradient with a workspace of at most `workspace_bytes`.
template <class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<WeightGradientParams<Plan, T, U>>> prepare_weight_gradient(
    Gpu const& gpu, BoundPlan<Plan> const& bound, detail::ImageView<T const> const& x, detail::ImageView<U> const& y,
    std::size_t workspace_bytes, IndexLimits const& limits = {}) {
    auto const filter = Plan::Head::geometry(bound.head);
    auto const& dy = bound.head.dy;
    if (Refusal refusal =
            detail::refuse_conv_limits(type_name<Plan>, filter, x.shape(), y.shape(), {dy.layout.shape, dy.from}))
        return *refusal;
    WeightGradientParams<Plan, T, U> params{bound, detail::without_idle_strides(x), y};
    if constexpr (Plan::Head::collapsed_space == 3) params.slices = problem::slices_of<3>(x.from, dy.from);
    if (detail::writes_nothing(bound, y.layout.shape)) return launch_nothing(gpu, type_name<Plan>, params);
    params.in_slabs = dy.layout.shape[0] * dy.layout.shape[2] * dy.layout.shape[3] >= limits.pixels;
    if (detail::has_no_elements(x.layout.shape) || detail::has_no_elements(dy.layout.shape)) {
        // x has no channels: computes the bias gradient alone, with one channel and no weights, so that no index is
        // divided by 0.
        if (y.layout.shape[1] == 0) params.y.layout.shape = {{y.layout.shape[0], 1, 0, 1}};
        return detail::prepare_first_weight_gradient<WeightGradient<Plan, T, U>>(
            gpu, params, dy.layout.shape[2] * dy.layout.shape[3], 1, workspace_bytes, limits.block_pixels);
    }
    if constexpr (has_depthwise_weight_gradient<Plan, T>)
        if (detail::runs_depthwise_gradient(params))
            return detail::prepare_depthwise_gradient(gpu, params, workspace_bytes);
    if constexpr (detail::may_fold_patches<Plan, T>)
        if (auto const folded = detail::fold_patches(params); folded && !params.in_slabs)
            if (auto const launch = prepare_bulk_weight_gradient(gpu, *folded, workspace_bytes)) return *launch;
    // where TMA would load rows of several pixels, clusters of CTAs take 5 microseconds
    if constexpr (WeightGradientParams<Plan, T, U>::has_phases)
        if (detail::common_phases(params.x, detail::typed<T>(dy)) != 1)
            if (auto const launch = prepare_few_pixels_gradient(gpu, params)) return *launch;
    // BulkWeightGradient is faster than GroupedWeightGradient if groups have 4 channels or more, and its tiles are full
    constexpr std::int64_t bulk_group_channels = 4;
    if constexpr (has_grouped_weight_gradient<Plan, T> && has_bulk_weight_gradient<Plan, T>)
        if (!params.in_slabs && filter.group_count > 1 && y.layout.shape[1] >= bulk_group_channels &&
            y.layout.shape[0] >= weight_block)
            if (auto const launch = prepare_bulk_weight_gradient(gpu, params, workspace_bytes)) return *launch;
    if constexpr (has_grouped_weight_gradient<Plan, T>)
        if (auto const launch = detail::prepare_grouped_gradient(gpu, params, workspace_bytes)) return *launch;
    if constexpr (has_bulk_weight_gradient<Plan, T>)
        if (!params.in_slabs)
            if (auto const launch = prepare_bulk_weight_gradient(gpu, params, workspace_bytes)) return *launch;
    if constexpr (has_stem_weight_gradient<Plan, T>)
        if (!params.in_slabs)
            if (auto const launch = detail::prepare_stem_gradient(gpu, params, workspace_bytes)) return *launch;
    return detail::prepare_tiled_gradient(gpu, params, workspace_bytes, limits);
}

}  // namespace fusekit::hip
