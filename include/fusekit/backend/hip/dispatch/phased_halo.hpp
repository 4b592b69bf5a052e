// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/halo_maps.hpp"
#include "fusekit/backend/hip/mainloop/phased_halo.hpp"
#include "fusekit/backend/hip/schedule/phased_halo.hpp"

namespace fusekit::hip::detail {

template <>
struct Launcher<PhasedHaloEntry> {
    template <class Schedule, class Plan, Element T, OutputElement U>
    [[gnu::cold]] FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, U>>> launch(
        Gpu const& gpu, ConvOperands<Plan, T, U> const& operands, int, Unmet& unmet) {
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
        tiles.set(shape, x.shape[0], y.shape[1], vector_of(params.y, shape));
        bool const encoded = encode_maps(
            gpu, unmet, [&] { return encode_image_rows(tiles.x, params.x, shape.pitch(), shape.rows_of_x(), {}); });
        if (!encoded) return {};
        tiles.in_use = true;
        std::int64_t const per_block = (max)(gpu.processors() / shape.blocks, 1),
                           ctas = shape.tiles(x.shape[0]) < per_block ? shape.tiles(x.shape[0]) : per_block;
        return *prepare_launch(gpu, kernel, params, ctas * shape.blocks);
    }

private:
    /// Returns the most columns, 8, 4 or 2, that one store of up to 16 bytes writes to y; 1 if the pixels of y are not
    /// dense or no such vector is aligned.
    template <class U>
    FUSEKIT_H static int vector_of(TensorView<U> const& y, PhasedHaloShape const& shape) {
        Index<4> const &extent = y.layout.shape, &stride = y.layout.stride;
        std::int64_t const elements = extent[3] * extent[1];
        constexpr std::int64_t limit = std::int64_t{1} << 30;
        if (stride[3] != extent[1] || elements >= limit || stride[2] >= limit || stride[2] <= -limit) return 1;
        int vector = 16 / static_cast<int>(sizeof(U));
        auto const divides = [&](std::int64_t value) { return value % vector == 0; };
        while (vector > 1 && !(problem::aligned(y.data, vector * static_cast<int>(sizeof(U))) && divides(shape.width) &&
                               divides(shape.row_columns) && divides(shape.origin[1] * extent[1]) &&
                               divides(elements) && divides(stride[2]) && divides(stride[0])))
            vector /= 2;
        return vector;
    }
};

}  // namespace fusekit::hip::detail
