// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/dispatch/orders.hpp"
#include "fusekit/backend/hip/dispatch/tiles.hpp"
#include "fusekit/backend/hip/mainloop/direct_totals.hpp"
#include "fusekit/backend/hip/schedule/direct.hpp"

namespace fusekit::hip::detail {

template <>
struct Launcher<DirectEntry> {
    template <class Schedule, Orders orders, class Plan, Element T, OutputElement U>
    FUSEKIT_H static Result<Launch<ConvParams<Plan, T, U>>> prepare(Gpu const& gpu,
                                                                    ConvOperands<Plan, T, U> const& operands, int,
                                                                    IndexLimits const& limits) {
        return with_fast_axis<orders>(operands.y.layout, [&]<Axis fast>(std::integral_constant<Axis, fast>) {
            return prepare_along<Schedule, fast>(gpu, operands, limits);
        });
    }

private:
    template <class Schedule, Axis fast, class Plan, Element T, OutputElement U>
    FUSEKIT_H static Result<Launch<ConvParams<Plan, T, U>>> prepare_along(Gpu const& gpu,
                                                                          ConvOperands<Plan, T, U> const& operands,
                                                                          [[maybe_unused]] IndexLimits const& limits) {
        ConvParams<Plan, T, U> params = conv_params(operands);
        Layout<4> const& y = operands.y.layout;
        if constexpr (Plan::totals_tiles) {
            using Mainloop = DirectTotals<Plan, Schedule, T, U, fast>;
            std::int64_t const columns = divide_up(y.shape[1], Mainloop::tile_n);
            SlabTiles const cut = cut_slabs<Plan>(y.shape, params.slices, Mainloop::tile_m, columns, limits);
            params.slabs = cut.slabs;
            return prepare_tiles<Plan>(gpu, kernel_of<Plan, Mainloop>(), params, cut.tiles, columns);
        } else {
            return prepare_launch(gpu, kernel_of<Plan, DirectConv<Plan, Schedule, T, U, fast>>(), params,
                                  divide_up(y.size(), Schedule::threads));
        }
    }
};

}  // namespace fusekit::hip::detail
