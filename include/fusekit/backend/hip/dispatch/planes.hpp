// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "fusekit/backend/hip/dispatch/halo.hpp"
#include "fusekit/backend/hip/mainloop/float_planes.hpp"
#include "fusekit/backend/hip/mainloop/planes.hpp"
#include "fusekit/backend/hip/tuning/select.hpp"

namespace fusekit::hip {

namespace detail {

/// Whether rows of a plane follow one another, planes too, and images begin at multiples of 16 bytes.
template <class T>
bool has_dense_planes(TensorView<T> const& view) {
    Index<4> const &shape = view.layout.shape, &stride = view.layout.stride;
    return (shape[3] == 1 || stride[3] == 1) && (shape[2] == 1 || stride[2] == shape[3]) &&
           (shape[1] == 1 || stride[1] == shape[2] * shape[3]) && (shape[0] == 1 || stride[0] > 0) &&
           stride[0] * static_cast<Extent>(sizeof(T)) % 16 == 0 && problem::aligned(view.data, 16);
}

/// A map of filters of 3 x 3 taps, which neighbour, and then channels: in boxes of all taps of 16 bytes of channels of
/// 64 filters, as they lie. False where they do not lie so, in multiples of 16 bytes.
template <class W>
bool encode_taps(TensorMap& map, TensorView<W> const& w) {
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
PlaneTiles<Schedule::pixels, T> plane_tiles(Index<4> const& x, Index<4> const& y, Filter<2> const& filter) {
    return {y[2], y[3], x[2], x[3], filter};
}

/// Whether a convolution is one that a schedule of planes computes.
template <class Schedule, class T>
bool suits_planes(Index<4> const& x, Index<4> const& y, Filter<2> const& filter) {
    bool suits = has_unit_steps(filter) && x[1] % 8 == 0 && (is_single_pixels(filter) || y[3] <= Schedule::pixels);
    for (int mode = 0; mode < 2; ++mode)
        suits = suits && filter.pad_before[mode] >= 0 && filter.pad_after[mode] >= 0 &&
                filter.size[mode] <= Schedule::pixels;
    return suits &&
           plane_tiles<Schedule, T>(x, y, filter).plane_stages(Schedule::parts, Schedule::x_bytes(sizeof(T)), 1) >= 1;
}

/// Tiles of y.
template <class Schedule, class T>
std::int64_t count_plane_tiles(Index<4> const& x, Index<4> const& y, Filter<2> const& filter) {
    return detail::divide_up(y[0] * plane_tiles<Schedule, T>(x, y, filter).of_image, Schedule::parts) *
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

/// What a kernel is given; nothing where an operand does not lie as it needs it, or the program or the GPU has no such
/// kernel. The convolution suits the schedule.
template <class Schedule, class Plan, Element T>
std::optional<Launch<ConvParams<Plan, T, T>>> launch_planes(Gpu const& gpu, ConvParams<Plan, T, T> params) {
    using Mainloop = typename PlanesOf<Plan, Schedule, T>::Type;
    if (!has_dense_planes(params.x) || !has_dense_planes(params.y) || !is_launchable<Plan, Mainloop>(gpu.index()))
        return {};
    Refusal refusal;
    DeviceGuard const guard(gpu.index(), &refusal);
    auto const w = detail::typed<T>(Plan::Head::filters(params.bound.head));
    MapModes<T const> const of_w(w);
    std::uint32_t const box[] = {128 / sizeof(T), 1, 1, 64};
    params.channels_fastest =
        !refusal && of_w.legal && encode_tiled(params.maps.w, sizeof(T), 4, w.data, of_w.extents, of_w.strides, box);
    if (refusal || !(params.channels_fastest || (Plan::Head::longest >= 3 && encode_taps(params.maps.w, w)))) return {};
    std::int64_t const tiles = count_plane_tiles<Schedule, T>(params.x.layout.shape, params.y.layout.shape,
                                                              Plan::Head::geometry(params.bound.head)),
                       most = gpu.processors();
    return *prepare_launch<Plan, Mainloop>(gpu, params, tiles < most ? tiles : most);
}

}  // namespace detail

/// Prepares a plan with one schedule of planes.
template <class Schedule, class Plan, Element T, detail::OutputElement U>
Result<Launch<ConvParams<Plan, T, U>>> prepare_planes_with(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                           detail::ImageView<T const> const& x,
                                                           detail::ImageView<U> const& y) {
    if constexpr (has_planes<Plan, T, U>)
        if (detail::is_sm90a(gpu) &&
            detail::suits_planes<Schedule, T>(x.layout.shape, y.layout.shape, Plan::Head::geometry(bound.head)))
            if (auto const launch = detail::launch_planes<Schedule>(gpu, ConvParams<Plan, T, U>{bound, x, y}))
                return *launch;
    return Error(
        type_name<Plan>(), "Planes", "",
        "a GPU of compute capability 9.0, code for sm_90a, a Conv of stride 1, dilation 1 and 1 group, rows of " +
            Text::number(Schedule::pixels) +
            " at most, a multiple of 8 channels of x, planes of x and y that follow one another, weights "
            "whose channels are neighbours or of 3 x 3 taps that are, and y of x's type",
        gpu.name() + ", x of strides " + detail::strides_of(x.collapsed_layout()) + ", y of strides " +
            detail::strides_of(y.collapsed_layout()));
}

}  // namespace fusekit::hip
