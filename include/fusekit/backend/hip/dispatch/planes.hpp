// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/dispatch/split.hpp"
#include "fusekit/backend/hip/mainloop/float_planes.hpp"
#include "fusekit/backend/hip/mainloop/planes.hpp"

namespace fusekit::hip::detail {

/// Encodes a tensor map with which TMA loads the pixels of x for a part of a tile of y (schedule/planes.hpp).
template <class T, class Tiles>
FUSEKIT_H bool encode_parts(TensorMap& map, TensorView<T> const& x, Tiles const& tiles) {
    if (!tiles.single) return encode_rows_of_x(map, x, tiles);
    Extent const step = pixel_stride(x.layout), pixels = tiles.x_height;
    TensorView<T> column = x;
    column.layout = {{{1, x.layout.shape[1], pixels, 1}}, {{pixels * step, 1, step, step}}};
    return encode_rows_of_x(map, column, tiles);
}

/// Encodes a tensor map of KCRS filters of 3 x 3 taps. A box has 64 filters x 16 bytes of channels x all taps. Returns
/// false if taps and channels are not dense, or if filters do not start at multiples of 16 bytes.
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

/// Mainloop of a Planes schedule for elements T.
template <class Plan, class Schedule, class T>
struct PlanesOf {
    using Type = PlanesGemm<Plan, Schedule, T>;
};
template <class Plan, class Schedule>
struct PlanesOf<Plan, Schedule, float> {
    using Type = FloatPlanesGemm<Plan, Schedule>;
};

/// Values of a launch that depend on the schedule's type.
template <class Params>
struct PlanesLaunch {
    Kernel<Params> kernel;
    std::int64_t tiles;
    bool channels_last;
    bool (*encode_x)(Params&);  ///< for channels-last x: encodes its tensor map
};

/// Prepares a launch of a Planes kernel. With split-K, `parts` CTAs compute one tile, at most one for each 64 channels
/// of x. Empty if TMA cannot load the weights' layout, or if the program or the GPU lacks the kernel.
template <class Plan, Element T>
FUSEKIT_H Maybe<Launch<ConvParams<Plan, T, T>>> launch_planes_kernel(Gpu const& gpu,
                                                                     PlanesLaunch<ConvParams<Plan, T, T>> const& with,
                                                                     ConvOperands<Plan, T, T> const& operands,
                                                                     [[maybe_unused]] int parts) {
    ConvParams<Plan, T, T> params{operands.bound, operands.x, operands.y};
    if (!with.kernel.is_launchable(gpu.index())) return {};
    Refusal refusal;
    DeviceGuard const guard(gpu.index(), &refusal);
    auto const w = typed<T>(Plan::Head::filters(params.bound.head));
    MapModes<T const> const of_w(w);
    std::uint32_t const box[] = {128 / sizeof(T), 1, 1, 64};
    params.channels_fastest =
        !refusal && of_w.legal && encode_tiled(params.maps.w, sizeof(T), 4, w.data, of_w.extents, of_w.strides, box);
    if (refusal || !(params.channels_fastest || (Plan::Head::longest >= 3 && encode_taps(params.maps.w, w)))) return {};
    params.maps.in_use = with.channels_last;
    if (with.channels_last && !with.encode_x(params)) return {};
    std::int64_t const most = gpu.processors();
    if constexpr (can_split<Plan, T>) {
        std::int64_t const channel_blocks = divide_up(params.x.layout.shape[1], PlaneTiles<64, T>::channels),
                           sharers = parts < channel_blocks ? parts : channel_blocks;
        if (sharers > 1 && !launches_clusters(gpu)) return {};
        params.parts.count = static_cast<unsigned>(sharers);
        if (sharers > 1)
            return *prepare_launch(gpu, with.kernel, params, with.tiles * sharers, LaunchMode::clusters, 0,
                                   params.parts.count);
    }
    return *prepare_launch(gpu, with.kernel, params, with.tiles < most ? with.tiles : most);
}

template <>
struct Launcher<PlanesEntry> {
    /// With split-K, at most one CTA per tile for each 64 channels of x.
    template <class Given, class Plan, Element T>
    FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, T>>> launch(Gpu const& gpu,
                                                                  ConvOperands<Plan, T, T> const& operands, int parts) {
        using Schedule = WholeSchedule<Given>;
        using Params = ConvParams<Plan, T, T>;
        Index<4> const &x = operands.x.layout.shape, &y = operands.y.layout.shape;
        PlanesOrder const order = planes_order<T>(operands.x, operands.y, operands.filter);
        bool const channels_last = order == PlanesOrder::channels_last;
        if (PlanesEntry::can_implement<Schedule, T>(x, y, operands.filter, order)) return {};
        PlanesLaunch<Params> with{kernel_of<Plan, typename PlanesOf<Plan, Schedule, T>::Type>(),
                                  PlanesEntry::count_tiles<Schedule, T>(x, y, operands.filter, channels_last),
                                  channels_last, nullptr};
        if constexpr (std::is_same_v<T, float>)
            with.encode_x = [](Params& params) {
                auto const tiles = PlanesEntry::tiles_of<Schedule, T>(params.x.layout.shape, params.y.layout.shape,
                                                                      Plan::Head::geometry(params.bound.head), true);
                return encode_parts(params.maps.x, params.x, tiles);
            };
        return launch_planes_kernel(gpu, with, operands, parts);
    }

    template <class Given, class Plan, Element T>
    FUSEKIT_H static Unmet unmet_by_layout(Gpu const& gpu, ConvOperands<Plan, T, T> const& operands, int parts) {
        using Kernel = typename PlanesOf<Plan, WholeSchedule<Given>, T>::Type;
        auto const w = typed<T>(Plan::Head::filters(operands.bound.head));
        return first_unmet(
            unmet_by_code(gpu, kernel_of<Plan, Kernel>()),
            holds(parts <= 1 || launches_clusters(gpu), "this program has code for GPUs without clusters",
                  "compile for sm_90a alone"),
            w.layout.shape[2] == 3 && w.layout.shape[3] == 3
                ? holds(false,
                        "weights have neither contiguous 3 x 3 taps nor channel stride 1 at multiples of 16 bytes",
                        "use MatrixGemm")
                : unmet_by_tma(w.layout, w.data, sizeof(T), names_of_w),
            holds(false, "TMA does not address the operands", "use MatrixGemm"));
    }
};

}  // namespace fusekit::hip::detail
