// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/conv_limits.hpp"
#include "fusekit/backend/hip/dispatch/tiles.hpp"
#include "fusekit/backend/hip/mainloop/halo.hpp"
#include "fusekit/backend/hip/runtime/launch.hpp"
#include "fusekit/backend/hip/tuning/select.hpp"

namespace fusekit::hip {

namespace detail {

/// Whether the GPU is one of those that sm_90a's code runs on.
FUSEKIT_H inline bool is_sm90a(Architecture architecture) {
    return with_tag(architecture, []<class Tag>(Tag) { return std::is_base_of_v<arch::Sm90a, Tag>; });
}
FUSEKIT_H inline bool is_sm90a(Gpu const& gpu) { return is_sm90a(gpu.architecture()); }

template <class Schedule, class T, class U>
using HaloShapeOf = HaloShape<Schedule::pixels, bulk_row_bytes(Schedule::channels, sizeof(T)),
                              static_cast<int>(sizeof(U)) * Schedule::channels>;

/// Whether a convolution from so many channels to y is one that a schedule with a halo computes.
template <class Schedule, class T, class U>
FUSEKIT_H bool suits_halo(Index<4> const& y, std::int64_t channels, Filter<2> const& filter) {
    bool const suits = has_unit_steps(filter) && channels <= Schedule::channels && y[1] <= Schedule::channels &&
                       std::int64_t{filter.size[0]} * filter.size[1] <= Schedule::most_taps;
    if (!suits || y[3] + filter.size[1] - 1 > Schedule::pixels) return false;
    HaloShapeOf<Schedule, T, U> const shape(static_cast<int>(y[2]), static_cast<int>(y[3]), filter);
    return shape.stages(Schedule::halo_bytes, Schedule::most_stages) >= 2;
}

/// What its kernel is given; nothing where an operand does not lie as its bulk copies need it, or the program or the
/// GPU has no such kernel. The convolution suits the schedule.
template <class Schedule, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H detail::Maybe<Launch<ConvParams<Plan, T, U>>> launch_halo(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                                    ImageView<T const> const& x,
                                                                    ImageView<U> const& y) {
    ConvParams<Plan, T, U> params{bound, x, y};
    auto const kernel = kernel_of<Plan, HaloGemm<Plan, Schedule, T, U>>();
    if (!kernel.is_launchable(gpu.index())) return {};
    Refusal refusal;
    DeviceGuard const guard(gpu.index(), &refusal);
    Index<4> const of_y = y.layout.shape;
    HaloShapeOf<Schedule, T, U> const shape(static_cast<int>(of_y[2]), static_cast<int>(of_y[3]),
                                            window_filter(Plan::Head::geometry(params.bound.head)));
    auto const stored = detail::typed<T>(Plan::Head::filters(params.bound.head)),
               w = has_transposed_conv<Plan> ? transposed(stored, 0, 1) : stored;
    if (refusal || !encode_rows(params.maps, params.x, w, params.y, shape, Schedule::channels)) return {};
    if constexpr (reads_in_bulk<Plan, T, U>)
        if (!encode_read<typename Plan::Epilogue>(
                params.read, params.bound.epilogue, params.y,
                [&](TensorMap& map, auto const& z) { return encode_rows_of_y(map, z, shape); }))
            return {};
    std::int64_t const tiles = of_y[0] * detail::divide_up(of_y[2], shape.rows);
    std::int64_t most = gpu.processors();
    if constexpr (Plan::totals_tiles) {  // a warpgroup's totals lie where the scratch has those of 64 pixels
        std::int64_t const held = detail::divide_up(of_y[0] * of_y[2] * of_y[3], 64);
        if (held < Schedule::consumers && tiles > held) return {};
        std::int64_t const blocks = held > Schedule::consumers ? held / Schedule::consumers : 1;
        if (blocks < most) most = blocks;
    }
    return *prepare_launch(gpu, kernel, params, tiles < most ? tiles : most, LaunchMode::plain,
                           Plan::totals_tiles ? GridShares::workspace_bytes : 0);
}

}  // namespace detail

/// Prepares a plan with one schedule with a halo.
template <class Schedule, class Plan, Element T, detail::OutputElement U>
FUSEKIT_H Result<Launch<ConvParams<Plan, T, U>>> prepare_halo_with(Gpu const& gpu, BoundPlan<Plan> const& bound,
                                                                   detail::ImageView<T const> const& x,
                                                                   detail::ImageView<U> const& y) {
    if constexpr (has_halo<Plan, T, U>)
        if (detail::is_sm90a(gpu) &&
            detail::suits_halo<Schedule, T, U>(y.layout.shape, x.layout.shape[1],
                                               detail::window_filter(Plan::Head::geometry(bound.head))))
            if (auto const launch = detail::launch_halo<Schedule>(gpu, bound, x, y)) return *launch;
    return Error(
        type_name<Plan>(), "Halo", "",
        "a GPU of compute capability 9.0, code for sm_90a, a filter of stride 1, dilation 1, 1 group and 9 taps "
        "at most, rows of 232 at most, of 8 bits 240, 64 channels of x and of y at most, which are neighbours, all "
        "else at multiples of 16 bytes, which a pixel's channels of y fill, y of x's type, or of 16 bits where x has "
        "8, two Amax at most where x has 16, and, where statistics follow, over 64 pixels of y, or one tile",
        gpu.name() + ", x of " + to_string(x.shape()) + ", y of " + to_string(y.shape()));
}

}  // namespace fusekit::hip
