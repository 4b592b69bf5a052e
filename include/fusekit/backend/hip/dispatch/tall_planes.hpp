// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/mainloop/tall_planes.hpp"
#include "fusekit/backend/hip/schedule/tall_planes.hpp"

namespace fusekit::hip::detail {

template <>
struct Launcher<TallPlanesEntry> {
    template <class Schedule, class Plan, Element T, OutputElement U>
    [[gnu::cold]] FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, U>>> launch(
        Gpu const& gpu, ConvOperands<Plan, T, U> const& operands, int, Unmet& unmet) {
        using Tiles = TallPlaneTiles;
        auto const kernel = kernel_of<Plan, TallPlanesConv<Plan, Schedule, T>>();
        ConvParams<Plan, T, U> params{operands.bound, operands.x, operands.y};
        auto const weights = typed<T>(Plan::Head::filters(params.bound.head));
        Filter<2> const filter = window_filter(operands.filter);
        Layout<4> const &w = weights.layout, &x = params.x.layout, &y = params.y.layout;
        std::int64_t const taps = w.shape[2] * w.shape[3];
        bool const dense = (w.shape[3] == 1 || w.stride[3] == 1) && (w.shape[2] == 1 || w.stride[2] == w.shape[3]) &&
                           (w.shape[1] == 1 || w.stride[1] == taps);
        unmet = first_unmet(unmet_by_code(gpu, kernel),
                            holds(taps == 1 || dense, "weights are not dense, in KCRS order", "use MatrixGemm"),
                            at_most("elements from an image of x to the next", x.shape[0] == 1 ? 0 : x.stride[0],
                                    (std::int64_t{1} << 30) - 1, "use MatrixGemm"),
                            at_least("elements from an image of x to the next", x.shape[0] == 1 ? 0 : x.stride[0], 0,
                                     "use MatrixGemm"));
        if (unmet) return {};
        std::int64_t const plane = y.shape[2] * y.shape[3], all = y.shape[0] * plane, groups = filter.group_count,
                           filters = y.shape[1] / groups, of_group = divide_up(filters, std::int64_t{Tiles::filters}),
                           columns = groups * of_group,
                           rows = divide_up(all, std::int64_t{Tiles::pixels * Tiles::warpgroups}),
                           resident = std::int64_t{Schedule::blocks} * gpu.processors() / columns,
                           grid = resident < 1      ? 1
                                  : resident < rows ? resident
                                                    : rows;
        auto const is_even = [](Layout<4> const& of, void const* data) {
            return (of.shape[0] == 1 || of.stride[0] % 2 == 0) && (of.shape[1] == 1 || of.stride[1] % 2 == 0) &&
                   problem::aligned(data, 2 * static_cast<int>(sizeof(T)));
        };
        Tiles& tiles = params.tall_planes;
        tiles.plane = FastDivmod(static_cast<std::uint32_t>(plane));
        tiles.row = FastDivmod(static_cast<std::uint32_t>(y.shape[3]));
        tiles.columns = FastDivmod(static_cast<std::uint32_t>(columns));
        tiles.of_group = FastDivmod(static_cast<std::uint32_t>(of_group));
        tiles.all_pixels = static_cast<std::uint32_t>(all);
        tiles.rounds = static_cast<std::uint32_t>(divide_up(rows, grid));
        tiles.k = static_cast<int>(w.shape[1] * taps), tiles.taps = static_cast<int>(taps);
        tiles.group_filters = static_cast<int>(filters), tiles.group_channels = static_cast<int>(w.shape[1]);
        tiles.window_columns = filter.size[1];
        tiles.stride_h = filter.strides[0], tiles.stride_w = filter.strides[1];
        tiles.dilation_h = filter.dilations[0], tiles.dilation_w = filter.dilations[1];
        tiles.pad_top = filter.pad_before[0], tiles.pad_left = filter.pad_before[1];
        tiles.windows = !is_single_pixels(filter.groups(1));
        tiles.pairs = plane % 2 == 0 && is_even(y, params.y.data) && (tiles.windows || is_even(x, params.x.data));
        tiles.vectors = (taps > 1 || w.shape[1] == 1 || w.stride[1] == 1) && tiles.k % 4 == 0 &&
                        (w.shape[0] == 1 || w.stride[0] % 4 == 0) &&
                        problem::aligned(weights.data, 4 * static_cast<int>(sizeof(T)));
        return *prepare_launch(gpu, kernel, params, grid * columns);
    }
};

}  // namespace fusekit::hip::detail
