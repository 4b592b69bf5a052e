// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/dispatch/halo.hpp"
#include "fusekit/backend/hip/dispatch/split.hpp"
#include "fusekit/backend/hip/mainloop/float_planes.hpp"
#include "fusekit/backend/hip/mainloop/planes.hpp"
#include "fusekit/backend/hip/tuning/select.hpp"

namespace fusekit::hip {

namespace detail {

/// Whether rows of a plane follow one another, planes too, and images begin at multiples of 16 bytes.
template <class T>
FUSEKIT_H bool has_dense_planes(TensorView<T> const& view) {
    Index<4> const &shape = view.layout.shape, &stride = view.layout.stride;
    return (shape[3] == 1 || stride[3] == 1) && (shape[2] == 1 || stride[2] == shape[3]) &&
           (shape[1] == 1 || stride[1] == shape[2] * shape[3]) && (shape[0] == 1 || stride[0] > 0) &&
           stride[0] * static_cast<Extent>(sizeof(T)) % 16 == 0 && problem::aligned(view.data, 16);
}

/// Whether channels neighbour and pixels of a row follow one another, rows too, and, of single pixels, images.
FUSEKIT_H inline bool has_dense_pixels(Layout<4> const& layout, bool single) {
    Extent const step = step_of_pixels(layout);
    return layout.stride[1] == 1 && step >= layout.shape[1] && step < (1 << 30) &&
           (single ? pixel_stride(layout) > 0 : layout.shape[2] == 1 || layout.stride[2] == layout.shape[3] * step);
}

/// How x and y of a convolution lie that a schedule of planes computes: of float, channels last, too.
enum class PlanesOrder { none, planes, channels_last };
template <class T>
FUSEKIT_H PlanesOrder planes_order(TensorView<T const> const& x, TensorView<T> const& y, Filter<2> const& filter) {
    if (has_dense_planes(x) && has_dense_planes(y)) return PlanesOrder::planes;
    bool const single = is_single_pixels(filter);
    if (std::is_same_v<T, float> && has_dense_pixels(x.layout, single) && has_dense_pixels(y.layout, single) &&
        MapModes<T const>(x).legal)
        return PlanesOrder::channels_last;
    return PlanesOrder::none;
}

/// A map of the pixels of x that parts of y see.
template <class T, class Tiles>
FUSEKIT_H bool encode_parts(TensorMap& map, TensorView<T> const& x, Tiles const& tiles) {
    if (!tiles.single) return encode_rows_of_x(map, x, tiles);
    Extent const step = pixel_stride(x.layout), pixels = tiles.x_height;
    TensorView<T> column = x;
    column.layout = {{{1, x.layout.shape[1], pixels, 1}}, {{pixels * step, 1, step, step}}};
    return encode_rows_of_x(map, column, tiles);
}

/// A map of filters of 3 x 3 taps, which neighbour, and then channels: in boxes of all taps of 16 bytes of channels of
/// 64 filters, as they lie. False where they do not lie so, in multiples of 16 bytes.
template <class W>
FUSEKIT_H bool encode_taps(TensorMap& map, TensorView<W> const& w) {
    constexpr int taps = 9;
    Index<4> const &shape = w.layout.shape, &stride = w.layout.stride;
    auto const pitch = (shape[0] == 1 ? shape[1] * taps : stride[0]) * static_cast<Extent>(sizeof(W));
    if (shape[2] != 3 || shape[3] != 3 || stride[3] != 1 || stride[2] != 3 || (shape[1] > 1 && stride[1] != taps) ||
        pitch <= 0 || pitch % 16 != 0 || !problem::aligned(w.data, 16))
        return false;
    std::uint64_t const extents[] = {static_cast<std::uint64_t>(shape[1] * taps), static_cast<std::uint64_t>(shape[0])},
                        strides[] = {static_cast<std::uint64_t>(pitch)};
    std::uint32_t const box[] = {16 / sizeof(W) * taps, 64};
    return encode_tiled(map, sizeof(W), 2, w.data, extents, strides, box, false);
}

/// How a schedule of planes cuts a convolution of x to y.
template <class Schedule, class T>
FUSEKIT_H PlaneTiles<Schedule::pixels, T> plane_tiles(Index<4> const& x, Index<4> const& y, Filter<2> const& filter,
                                                      bool channels_last) {
    return {y[2], y[3], x[2], x[3], filter, y[0], channels_last};
}

/// Whether a convolution is one that a schedule of planes computes.
template <class Schedule, class T>
FUSEKIT_H bool suits_planes(Index<4> const& x, Index<4> const& y, Filter<2> const& filter, bool channels_last) {
    bool suits = has_unit_steps(filter) && x[1] % 8 == 0 && (is_single_pixels(filter) || y[3] <= Schedule::pixels);
    for (int mode = 0; mode < 2; ++mode)
        suits = suits && filter.pad_before[mode] >= 0 && filter.pad_after[mode] >= 0 &&
                filter.size[mode] <= Schedule::pixels;
    if (!suits || (channels_last && y[0] * y[2] * y[3] > (1 << 30))) return false;
    auto const tiles = plane_tiles<Schedule, T>(x, y, filter, channels_last);
    return tiles.plane_stages(Schedule::parts, Schedule::x_bytes(sizeof(T)), 1) >= 1 &&
           (!channels_last || (tiles.rows_of_x() <= 256 && tiles.pitch <= 256));
}

/// Tiles of y.
template <class Schedule, class T>
FUSEKIT_H std::int64_t count_plane_tiles(Index<4> const& x, Index<4> const& y, Filter<2> const& filter,
                                         bool channels_last) {
    auto const tiles = plane_tiles<Schedule, T>(x, y, filter, channels_last);
    return detail::divide_up(std::int64_t{tiles.images} * tiles.of_image, Schedule::parts) *
           detail::divide_up(y[1], Schedule::channels(sizeof(T)));
}

/// The kernel's body for an element type.
template <class Plan, class Schedule, class T>
struct PlanesOf {
    using Type = PlanesGemm<Plan, Schedule, T>;
};
template <class Plan, class Schedule>
struct PlanesOf<Plan, Schedule, float> {
    using Type = FloatPlanesGemm<Plan, Schedule>;
};

/// What of a schedule's launch depends on the schedule.
template <class Params>
struct PlanesLaunch {
    Kernel<Params> kernel;
    std::int64_t tiles;
    bool channels_last;
    bool (*encode_x)(Params&);  ///< of channels last: a map of x
};

/// What a kernel is given, whose tiles `parts` blocks share, at most one for each 64 channels of x; nothing where
/// weights do not lie as it needs them, or the program or the GPU has no such kernel.
template <class Plan, Element T>
FUSEKIT_H detail::Maybe<Launch<ConvParams<Plan, T, T>>> launch_planes_kernel(
    Gpu const& gpu, PlanesLaunch<ConvParams<Plan, T, T>> const& with, BoundPlan<Plan> const& bound,
    ImageView<T const> const& x, ImageView<T> const& y, [[maybe_unused]] int parts) {
    ConvParams<Plan, T, T> params{bound, x, y};
    if (!with.kernel.is_launchable(gpu.index())) return {};
    Refusal refusal;
    DeviceGuard const guard(gpu.index(), &refusal);
    auto const w = detail::typed<T>(Plan::Head::filters(params.bound.head));
    MapModes<T const> const of_w(w);
    std::uint32_t const box[] = {128 / sizeof(T), 1, 1, 64};
    params.channels_fastest =
        !refusal && of_w.legal && encode_tiled(params.maps.w, sizeof(T), 4, w.data, of_w.extents, of_w.strides, box);
    if (refusal || !(params.channels_fastest || (Plan::Head::longest >= 3 && encode_taps(params.maps.w, w)))) return {};
    params.maps.in_use = with.channels_last;
    if (with.channels_last && !with.encode_x(params)) return {};
    std::int64_t const most = gpu.processors();
    if constexpr (has_split<Plan, T>) {
        std::int64_t const channel_blocks = divide_up(x.layout.shape[1], PlaneTiles<64, T>::channels),
                           sharers = parts < channel_blocks ? parts : channel_blocks;
        if (sharers > 1 && !launches_clusters(gpu)) return {};
        params.parts.count = static_cast<unsigned>(sharers);
        if (sharers > 1)
            return *prepare_launch(gpu, with.kernel, params, with.tiles * sharers, LaunchMode::clusters, 0,
                                   params.parts.count);
    }
    return *prepare_launch(gpu, with.kernel, params, with.tiles < most ? with.tiles : most);
}

/// The same of a schedule; nothing, too, where x or y does not lie as it needs them, or the convolution does not suit
/// it.
template <class Schedule, class Plan, Element T>
FUSEKIT_H detail::Maybe<Launch<ConvParams<Plan, T, T>>> launch_planes(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                                      ImageView<T const> const& x,
                                                                      ImageView<T> const& y, int parts) {
    using Params = ConvParams<Plan, T, T>;
    auto const filter = Plan::Head::geometry(bound.head);
    Index<4> const &of_x = x.layout.shape, &of_y = y.layout.shape;
    PlanesOrder const order = planes_order<T>(x, y, filter);
    bool const channels_last = order == PlanesOrder::channels_last;
    if (order == PlanesOrder::none || !suits_planes<Schedule, T>(of_x, of_y, filter, channels_last)) return {};
    PlanesLaunch<Params> with{kernel_of<Plan, typename PlanesOf<Plan, Schedule, T>::Type>(),
                              count_plane_tiles<Schedule, T>(of_x, of_y, filter, channels_last), channels_last,
                              nullptr};
    if constexpr (std::is_same_v<T, float>)
        with.encode_x = [](Params& params) {
            auto const tiles = plane_tiles<Schedule, T>(params.x.layout.shape, params.y.layout.shape,
                                                        Plan::Head::geometry(params.bound.head), true);
            return encode_parts(params.maps.x, params.x, tiles);
        };
    return launch_planes_kernel(gpu, with, bound, x, y, parts);
}

}  // namespace detail

/// Prepares a plan with one schedule of planes, whose tiles `parts` blocks share.
template <class Schedule, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<ConvParams<Plan, T, U>>> prepare_planes_with(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                                     detail::ImageView<T const> const& x,
                                                                     detail::ImageView<U> const& y, int parts) {
    if constexpr (has_planes<Plan, T, U>)
        if (detail::is_sm90a(gpu))
            if (auto const launch = detail::launch_planes<Schedule>(gpu, bound, x, y, parts)) return *launch;
    return Error(
        type_name<Plan>(), parts > 1 ? "Split<Planes>" : "Planes", "",
        "a GPU of compute capability 9.0, code for sm_90a, a Conv of stride 1, dilation 1 and 1 group, rows of " +
            Text::number(Schedule::pixels) + " at most, x of a tile of " + Text::number(Schedule::x_bytes(sizeof(T))) +
            " bytes at most, a multiple of 8 channels of x, planes of x and y that follow one another (float: or "
            "channels last), weights whose channels are neighbours or of 3 x 3 taps that are, and y of x's type" +
            (parts > 1 ? "; to share tiles: a program whose code is all for GPUs with clusters" : ""),
        gpu.name() + ", x of strides " + detail::strides_of(x.collapsed_layout()) + ", y of strides " +
            detail::strides_of(y.collapsed_layout()));
}

}  // namespace fusekit::hip
