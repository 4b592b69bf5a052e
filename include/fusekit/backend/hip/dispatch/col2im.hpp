// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/halo_maps.hpp"
#include "fusekit/backend/hip/mainloop/col2im.hpp"
#include "fusekit/backend/hip/schedule/col2im.hpp"

namespace fusekit::hip::detail {

template <>
struct Launcher<Col2imEntry> {
    template <class Schedule, class Plan, Element T, OutputElement U>
    [[gnu::cold]] FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, U>>> launch(
        Gpu const& gpu, ConvOperands<Plan, T, U> const& operands, int, Unmet& unmet) {
        ConvParams<Plan, T, U> params = conv_params(operands);
        auto const kernel = kernel_of<Plan, Col2imGemm<Plan, Schedule, T, U>>();
        Index<4> const &x = params.x.layout.shape, &y = params.y.layout.shape;
        Col2imShape const shape = Col2imShape::of(x[1], y, window_filter(operands.filter));
        unmet =
            first_unmet(unmet_by_code(gpu, kernel), unmet_by_tma(params.x.layout, params.x.data, sizeof(T), names_of_x),
                        Col2imEntry::unmet_by_shape(shape));
        if (unmet) return {};
        Col2imTiles& tiles = params.col2im;
        tiles.set(shape, y);
        tiles.in_use = encode_maps(
            gpu, unmet, [&] { return encode_image_rows(tiles.x, params.x, shape.box_columns, shape.box_rows, {}); });
        if (!tiles.in_use) return {};
        std::int64_t const most = std::int64_t{Schedule::blocks} * gpu.processors(), all = tiles.all;
        return *prepare_launch(gpu, kernel, params, all < most ? all : most);
    }
};

}  // namespace fusekit::hip::detail
