// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/halo.hpp"
#include "fusekit/backend/hip/mainloop/stem.hpp"

namespace fusekit::hip {

namespace detail {

/// Whether pixels of a row of x follow one another, their channels too, and rows and images lie at multiples of 16
/// bytes.
template <class T>
FUSEKIT_H bool has_rows_of_pixels(TensorView<T> const& x) {
    Index<4> const &shape = x.layout.shape, &stride = x.layout.stride;
    auto const steps_whole = [&](int mode) {
        return shape[mode] == 1 || (stride[mode] > 0 && stride[mode] * static_cast<Extent>(sizeof(T)) % 16 == 0);
    };
    return (shape[1] == 1 || stride[1] == 1) && (shape[3] == 1 || stride[3] == shape[1]) && steps_whole(2) &&
           steps_whole(0) && shape[3] * shape[1] < std::int64_t{1} << 30 && problem::aligned(x.data, 16);
}

/// A map of rows of x as they lie, in boxes of what a tile reads. has_rows_of_pixels(x).
template <class T>
FUSEKIT_H bool encode_rows_of_pixels(TensorMap& map, TensorView<T> const& x, StemShape const& tile) {
    Index<4> const &shape = x.layout.shape, &stride = x.layout.stride;
    auto const number = [](Extent extent) { return static_cast<std::uint64_t>(extent); };
    auto const bytes = [&](int mode) { return number(shape[mode] == 1 ? 16 : stride[mode] * Extent{sizeof(T)}); };
    std::uint64_t const extents[] = {number(shape[3] * shape[1]), number(shape[2]), number(shape[0]), 1},
                        strides[] = {bytes(2), bytes(0), 16};
    std::uint32_t const box[] = {static_cast<std::uint32_t>(tile.pitch), static_cast<std::uint32_t>(tile.rows_of_x), 1,
                                 1};
    return encode_tiled(map, sizeof(T), 4, x.data, extents, strides, box, false);
}

/// The shape of a convolution's tiles; without panels where the schedule does not compute it.
template <class Schedule>
FUSEKIT_H StemShape stem_shape(Index<4> const& y, std::int64_t channels, Filter<2> const& filter) {
    bool const neighbours = filter.size[1] == 1 || filter.dilations[1] == 1;
    if (filter.group_count != 1 || !neighbours) return {};
    StemShape const shape = StemShape::of(y, channels, filter, Schedule::stage_bytes);
    return shape.panels <= Schedule::most_panels ? shape : StemShape();
}

/// What its kernel is given; nothing where the schedule does not compute the convolution, an operand does not lie as
/// it needs it, or the program or the GPU has no such kernel.
template <class Schedule, class Plan, Element T>
FUSEKIT_H detail::Maybe<Launch<ConvParams<Plan, T, T>>> launch_stem(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                                    ImageView<T const> const& x,
                                                                    ImageView<T> const& y) {
    ConvParams<Plan, T, T> params{bound, x, y};
    auto const kernel = kernel_of<Plan, StemGemm<Plan, Schedule, T>>();
    Index<4> const of_y = y.layout.shape;
    params.stem = stem_shape<Schedule>(of_y, params.x.layout.shape[1], Plan::Head::geometry(params.bound.head));
    if (params.stem.panels == 0 || !has_rows_of_pixels(params.x) || !kernel.is_launchable(gpu.index())) return {};
    struct {
        int pitch, rows;
    } const box{params.stem.columns(), params.stem.rows()};
    Refusal refusal;
    DeviceGuard const guard(gpu.index(), &refusal);
    params.maps.in_use = !refusal && encode_rows_of_pixels(params.maps.x, params.x, params.stem) &&
                         encode_rows_of_y(params.maps.y, params.y, box);
    if (!params.maps.in_use) return {};
    if constexpr (reads_in_bulk<Plan, T, T>)
        if (!encode_read<typename Plan::Epilogue>(
                params.read, params.bound.epilogue, params.y,
                [&](TensorMap& map, auto const& z) { return encode_rows_of_y(map, z, box); }))
            return {};
    std::int64_t const columns = divide_up(of_y[1], Schedule::channels), tiles = params.stem.tiles(of_y),
                       most = columns < gpu.processors() ? gpu.processors() / columns : 1;
    return *prepare_launch(gpu, kernel, params, columns * (tiles < most ? tiles : most));
}

}  // namespace detail

/// Prepares a plan with one schedule for few channels.
template <class Schedule, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<ConvParams<Plan, T, U>>> prepare_stem_with(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                                   detail::ImageView<T const> const& x,
                                                                   detail::ImageView<U> const& y) {
    if constexpr (has_stem<Plan, T, U>)
        if (detail::is_sm90a(gpu))
            if (auto const launch = detail::launch_stem<Schedule>(gpu, bound, x, y)) return *launch;
    return Error(type_name<Plan>(), "Stem", "",
                 "a GPU of compute capability 9.0, code for sm_90a, a Conv of 1 group and more than one tap, with " +
                     Text::number(2 * Schedule::most_panels) +
                     " rows of 31 products at most, which neighbour in x, x in rows of neighbouring pixels at "
                     "multiples of 16 bytes, y whose channels are neighbours and all else at such multiples, which a "
                     "pixel's channels fill, of x's type, and no operator with parameters of every place",
                 gpu.name() + ", x of strides " + detail::strides_of(x.collapsed_layout()) + ", y of " +
                     to_string(y.shape()) + " and strides " + detail::strides_of(y.collapsed_layout()));
}

}  // namespace fusekit::hip
