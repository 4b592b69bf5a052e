// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/mainloop/few_pixels_weight_gradient.hpp"
#include "fusekit/backend/hip/tma_limits.hpp"
#include "fusekit/backend/hip/tuning/cost.hpp"

namespace fusekit::hip {

/// Returns the launch of FewPixelsWeightGradient. Empty if the filter has several taps or groups, if pixels are many or
/// have no single stride, if channels are not contiguous, or if the program or the GPU lacks the kernel.
template <class Plan, Element T, detail::OutputElement U>
FUSEKIT_H detail::Maybe<Launch<WeightGradientParams<Plan, T, U>>> prepare_few_pixels_gradient(
    Gpu const& gpu, WeightGradientParams<Plan, T, U> params) {
    if constexpr (!WeightGradientParams<Plan, T, U>::has_phases) {
        return {};
    } else {
        using Mainloop = FewPixelsWeightGradient<Plan, T, U>;
        auto const kernel = kernel_of<Plan, Mainloop>();
        constexpr Extent most_step = Extent{1} << 30;
        Layout<4> const &x = params.x.layout, &dy = params.bound.head.dy.layout;
        Index<4> const& dw = params.y.layout.shape;
        Extent const pixels = dy.shape[0] * dy.shape[2] * dy.shape[3], x_step = detail::pixel_stride(x),
                     dy_step = detail::pixel_stride(dy);
        auto const contiguous = [](Layout<4> const& layout) { return layout.shape[1] == 1 || layout.stride[1] == 1; };
        if (pixels > max_few_pixels || x_step <= 0 || dy_step <= 0 || x_step > most_step || dy_step > most_step ||
            !contiguous(x) || !contiguous(dy) || !kernel.is_launchable(gpu.index()))
            return {};
        params.maps.pixels = static_cast<int>(pixels);
        params.maps.x_step = static_cast<int>(x_step), params.maps.dy_step = static_cast<int>(dy_step);
        auto const launch = prepare_launch(gpu, kernel, params, Mainloop::tiles(dw[0], dw[1]));
        if (!launch) return {};
        return *launch;
    }
}

}  // namespace fusekit::hip
