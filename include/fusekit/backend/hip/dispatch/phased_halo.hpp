// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/mainloop/phased_halo.hpp"
#include "fusekit/backend/hip/schedule/phased_halo.hpp"

namespace fusekit::hip::detail {

template <>
struct Launcher<PhasedHaloEntry> {
    template <class Schedule, class Plan, Element T, OutputElement U>
    FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, U>>> launch(Gpu const& gpu,
                                                                  ConvOperands<Plan, T, U> const& operands, int,
                                                                  Unmet& unmet) {
        ConvParams<Plan, T, U> params{operands.bound, operands.x, operands.y};
        auto const kernel = kernel_of<Plan, PhasedHaloGemm<Plan, Schedule, T, U>>();
        Filter<2> const of_y = operands.filter.of_y();
        Layout<4> const &x = params.x.layout, &y = params.y.layout;
        PhasedHaloShape const shape = phased_halo_shape(x.shape, y.shape, of_y);
        unmet = first_unmet(
            unmet_by_code(gpu, kernel), unmet_by_tma(x, params.x.data, sizeof(T), names_of_x),
            PhasedHaloEntry::unmet_by_shape(shape),
            at_most("tiles", shape.tiles(x.shape[0]) * shape.k_tiles, (std::int64_t{1} << 30) - 1, "use MatrixGemm"));
        if (unmet) return {};
        PhasedHaloTiles& tiles = params.phased_halo;
        tiles.set(shape, x.shape[0], y.shape[1]);
        auto const is_even = [](std::int64_t value) { return value % 2 == 0; };
        tiles.paired = problem::aligned(params.y.data, 4) && y.stride[3] == y.shape[1] && is_even(shape.width) &&
                       is_even(shape.row_columns) && is_even(shape.origin[1] * y.shape[1]) && is_even(y.stride[2]) &&
                       is_even(y.stride[0]);
        bool const encoded = encode_maps(gpu, unmet, [&] {
            MapModes<T const> const modes(params.x);
            std::uint32_t const box[] = {PhasedHaloShape::row_channels, static_cast<std::uint32_t>(shape.pitch()),
                                         static_cast<std::uint32_t>(shape.rows_of_x()), 1};
            return encode_tiled(tiles.x, sizeof(T), 4, params.x.data, modes.extents, modes.strides, box);
        });
        if (!encoded) return {};
        tiles.in_use = true;
        std::int64_t const per_block = (max)(gpu.processors() / shape.blocks, 1),
                           ctas = shape.tiles(x.shape[0]) < per_block ? shape.tiles(x.shape[0]) : per_block;
        return *prepare_launch(gpu, kernel, params, ctas * shape.blocks);
    }
};

}  // namespace fusekit::hip::detail
