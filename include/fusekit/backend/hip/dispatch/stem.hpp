// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/halo_maps.hpp"
#include "fusekit/backend/hip/mainloop/stem.hpp"
#include "fusekit/backend/hip/schedule/stem.hpp"

namespace fusekit::hip::detail {

/// Encodes a tensor map of x whose boxes are the rows of x that a tile of y reads. Preconditions:
/// has_rows_of_pixels(x.layout) and has_aligned_rows(x).
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

template <>
struct Launcher<StemEntry> {
    template <class Schedule, class Plan, Element T>
    FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, T>>> launch(Gpu const& gpu,
                                                                  ConvOperands<Plan, T, T> const& operands, int,
                                                                  Unmet& unmet) {
        ConvParams<Plan, T, T> params{operands.bound, operands.x, operands.y};
        auto const kernel = kernel_of<Plan, StemGemm<Plan, Schedule, T>>();
        TensorView<T> const& y = params.y;
        Index<4> const of_y = y.layout.shape;
        params.stem =
            StemEntry::shape<Schedule>(of_y, params.x.layout.shape[1], operands.filter, has_aligned_rows(params.x));
        unmet =
            first_unmet(unmet_by_code(gpu, kernel), unmet_by_packets(y),
                        unmet_by_tma(y.layout, y.data, sizeof(T), names_of_y), unmet_by_read(operands, unmet_by_tma));
        if (unmet) return {};
        struct {
            int pitch, rows;
        } const box{params.stem.columns(), params.stem.rows()};
        params.maps.in_use = encode_maps(gpu, unmet, [&] {
            return (!params.stem.by_tma || encode_rows_of_pixels(params.maps.x, params.x, params.stem)) &&
                   encode_rows_of_y(params.maps.y, y, box) &&
                   encode_read(params, [&](TensorMap& map, auto const& z) { return encode_rows_of_y(map, z, box); });
        });
        if (!params.maps.in_use) return {};
        std::int64_t const columns = divide_up(of_y[1], Schedule::channels), tiles = params.stem.tiles(of_y),
                           most = columns < gpu.processors() ? gpu.processors() / columns : 1;
        return *prepare_launch(gpu, kernel, params, columns * (tiles < most ? tiles : most));
    }
};

}  // namespace fusekit::hip::detail
