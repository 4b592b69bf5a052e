// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/bulk_maps.hpp"
#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/mainloop/persistent_weight_gradient.hpp"

namespace fusekit::hip {

/// Returns the launch of PersistentWeightGradient. Empty if the filter has several taps, if TMA cannot load rows of
/// pixels of x and dy, if rows of dw are not vectors of 8 channels, if the pixels are more than the schedule reduces
/// without promotion, or if the program or the GPU lacks the kernel.
template <class Schedule, class Plan, Element T, detail::OutputElement U>
[[gnu::cold]] FUSEKIT_H detail::Maybe<Launch<WeightGradientParams<Plan, T, U>>> launch_persistent_weight_gradient(
    Gpu const& gpu, WeightGradientParams<Plan, T, U> params) {
    auto const kernel = kernel_of<Plan, PersistentWeightGradient<Plan, Schedule, T, U>>();
    auto const dy = detail::typed<T>(params.bound.head.dy);
    Index<4> const &of_dy = dy.layout.shape, &dw = params.y.layout.shape;
    std::int64_t const pixels = of_dy[0] * of_dy[2] * of_dy[3];
    if (!kernel.is_launchable(gpu.index()) || pixels > Schedule::max_pixels ||
        detail::phases_of(params.x.layout, params.x.data, sizeof(T)) != 1 ||
        detail::phases_of(dy.layout, dy.data, sizeof(T)) != 1 || !fits_weight_store(params.y))
        return {};
    Refusal refusal;
    DeviceGuard const guard(gpu.index(), &refusal);
    auto& maps = params.maps;
    maps.in_use = !refusal && detail::encode_phases(maps.x, params.x, weight_block, Schedule::pixels, 1) &&
                  detail::encode_phases(maps.dy, dy, weight_block, Schedule::pixels, 1);
    if (!maps.in_use) return {};
    maps.pixels = static_cast<int>(pixels);
    std::int64_t const tiles = detail::divide_up(dw[0], Schedule::rows) * detail::divide_up(dw[1], Schedule::columns),
                       at_once = std::int64_t{gpu.processors()} * Schedule::blocks;
    auto const launch = prepare_launch(gpu, kernel, params, tiles < at_once ? tiles : at_once);
    if (!launch) return {};
    return *launch;
}

}  // namespace fusekit::hip
