// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/dispatch/split.hpp"
#include "fusekit/backend/hip/halo_maps.hpp"
#include "fusekit/backend/hip/mainloop/float_planes.hpp"
#include "fusekit/backend/hip/mainloop/planes.hpp"
#include "fusekit/backend/hip/schedule/planes.hpp"

namespace fusekit::hip::detail {

/// Encodes a tensor map of x whose boxes are the pixels of x that one part of a tile of y (PlanePart: consecutive rows
/// of one image) reads.
template <class T, class Tiles>
[[gnu::cold]] FUSEKIT_H bool encode_parts(TensorMap& map, TensorView<T> const& x, Tiles const& tiles) {
    if (!tiles.single) return encode_rows_of_x(map, x, tiles);
    Extent const step = pixel_stride(x.layout), pixels = tiles.x_height;
    TensorView<T> column = x;
    column.layout = {{{1, x.layout.shape[1], pixels, 1}}, {{pixels * step, 1, step, step}}};
    return encode_rows_of_x(map, column, tiles);
}

/// True if filters are 3 x 3 in KCRS order, with dense taps and channels, and each starts at a multiple of 16 bytes.
template <class W>
FUSEKIT_H bool has_dense_taps(TensorView<W> const& w) {
    Index<4> const &shape = w.layout.shape, &stride = w.layout.stride;
    auto const pitch = (shape[0] == 1 ? shape[1] * 9 : stride[0]) * static_cast<Extent>(sizeof(W));
    return shape[2] == 3 && shape[3] == 3 && stride[3] == 1 && stride[2] == 3 && (shape[1] == 1 || stride[1] == 9) &&
           pitch > 0 && pitch % 16 == 0 && problem::aligned(w.data, 16);
}

/// Encodes a tensor map of filters for which has_dense_taps() is true; a box has 64 filters, each with all taps of 16
/// bytes of channels.
template <class W>
[[gnu::cold]] FUSEKIT_H bool encode_taps(TensorMap& map, TensorView<W> const& w) {
    Index<4> const &shape = w.layout.shape, &stride = w.layout.stride;
    auto const pitch = (shape[0] == 1 ? shape[1] * 9 : stride[0]) * static_cast<Extent>(sizeof(W));
    std::uint64_t const extents[] = {static_cast<std::uint64_t>(shape[1] * 9), static_cast<std::uint64_t>(shape[0])},
                        strides[] = {static_cast<std::uint64_t>(pitch)};
    std::uint32_t const box[] = {16 / sizeof(W) * 9, 64};
    return encode_tiled(map, sizeof(W), 2, w.data, extents, strides, box, false);
}

/// Type: mainloop of a Planes schedule for elements T.
template <class Plan, class Schedule, class T>
struct PlanesOf {
    using Type = PlanesGemm<Plan, Schedule, T>;
};
template <class Plan, class Schedule>
struct PlanesOf<Plan, Schedule, float> {
    using Type = FloatPlanesGemm<Plan, Schedule>;
};

/// Kernel and numbers of a Planes launch that depend on the schedule's type, as an argument of launch_planes_kernel(),
/// which is then compiled once for all Planes schedules.
template <class Params>
struct PlanesLaunch {
    Kernel<Params> kernel;
    std::int64_t tiles;
    bool channels_last;
    bool (*encode_x)(Params&);  ///< for channels-last x: encodes its tensor map
};

/// Returns the launch of a Planes kernel. With split-K, `split_k` CTAs compute one tile, but at most one for each
/// channel block of x (PlaneTiles::channels channels). Empty, with `unmet` as the first unmet condition, if the
/// program, the GPU or the weights' layout does not support it.
template <class Plan, Element T>
[[gnu::cold]] FUSEKIT_H Maybe<Launch<ConvParams<Plan, T, T>>> launch_planes_kernel(
    Gpu const& gpu, PlanesLaunch<ConvParams<Plan, T, T>> const& with, ConvOperands<Plan, T, T> const& operands,
    int split_k, Unmet& unmet) {
    ConvParams<Plan, T, T> params{operands.bound, operands.x, operands.y};
    std::int64_t const channel_blocks = divide_up(params.x.layout.shape[1], PlaneTiles<64, T>::channels),
                       sharers = split_k < channel_blocks ? split_k : channel_blocks;
    auto const w = typed<T>(Plan::Head::filters(params.bound.head));
    bool const is_3x3 = w.layout.shape[2] == 3 && w.layout.shape[3] == 3;
    Unmet const by_channels = unmet_by_tma(w.layout, w.data, sizeof(T), names_of_w);
    params.channels_fastest = !by_channels;
    unmet = first_unmet(
        unmet_by_code(gpu, with.kernel),
        holds(sharers <= 1 || launches_clusters(gpu), "this program has code for GPUs without clusters",
              "compile for sm_90a alone"),
        is_3x3 ? holds(!by_channels || has_dense_taps(w),
                       "weights have neither contiguous 3 x 3 taps nor channel stride 1 at multiples of 16 bytes",
                       "use MatrixGemm")
               : by_channels);
    if (unmet) return {};
    params.maps.in_use = with.channels_last;
    auto const encode_w = [&] {
        if (by_channels) return encode_taps(params.maps.w, w);
        MapModes<T const> const of_w(w);
        std::uint32_t const box[] = {128 / sizeof(T), 1, 1, 64};
        return encode_tiled(params.maps.w, sizeof(T), 4, w.data, of_w.extents, of_w.strides, box);
    };
    if (!encode_maps(gpu, unmet, [&] { return encode_w() && (!with.channels_last || with.encode_x(params)); }))
        return {};
    std::int64_t const most = gpu.processors();
    if constexpr (can_split<Plan, T>) {
        params.split_k.count = static_cast<unsigned>(sharers);
        if (sharers > 1)
            return *prepare_launch(gpu, with.kernel, params, with.tiles * sharers, LaunchMode::clusters, 0,
                                   params.split_k.count);
    }
    return *prepare_launch(gpu, with.kernel, params, with.tiles < most ? with.tiles : most);
}

template <>
struct Launcher<PlanesEntry> {
    /// launch() as Launcher describes it (launcher.hpp). With split-K, a tile has at most one CTA for each 64 channels
    /// of x.
    template <class Given, class Plan, Element T>
    [[gnu::cold]] FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, T>>> launch(
        Gpu const& gpu, ConvOperands<Plan, T, T> const& operands, int split_k, Unmet& unmet) {
        using Schedule = WholeSchedule<Given>;
        using Params = ConvParams<Plan, T, T>;
        Index<4> const &x = operands.x.layout.shape, &y = operands.output;
        bool const channels_last =
            planes_order<T, Plan::pools>(operands.x, operands.y, operands.filter) == PlanesOrder::channels_last;
        PlanesLaunch<Params> with{
            kernel_of<Plan, typename PlanesOf<Plan, Schedule, T>::Type>(),
            PlanesEntry::count_tiles<Schedule, T>(x, y, operands.filter, channels_last, Plan::pools), channels_last,
            nullptr};
        if constexpr (std::is_same_v<T, float>)
            with.encode_x = [](Params& params) {
                auto const tiles = PlanesEntry::tiles_of<Schedule, T>(params.x.layout.shape, params.y.layout.shape,
                                                                      Plan::Head::geometry(params.bound.head), true);
                return encode_parts(params.maps.x, params.x, tiles);
            };
        return launch_planes_kernel(gpu, with, operands, split_k, unmet);
    }
};

}  // namespace fusekit::hip::detail
