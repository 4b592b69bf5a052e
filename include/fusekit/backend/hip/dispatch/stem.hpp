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
[[gnu::cold]] FUSEKIT_H bool encode_rows_of_pixels(TensorMap& map, TensorView<T> const& x, StemShape const& tile) {
    Index<4> const &shape = x.layout.shape, &stride = x.layout.stride;
    auto const number = [](Extent extent) { return static_cast<std::uint64_t>(extent); };
    auto const bytes = [&](int mode) { return number(shape[mode] == 1 ? 16 : stride[mode] * Extent{sizeof(T)}); };
    std::uint64_t const extents[] = {number(shape[3] * shape[1]), number(shape[2]), number(shape[0]), 1},
                        strides[] = {bytes(2), bytes(0), 16};
    std::uint32_t const box[] = {static_cast<std::uint32_t>(tile.box), static_cast<std::uint32_t>(tile.rows_of_x), 1,
                                 1};
    return encode_tiled(map, sizeof(T), 4, x.data, extents, strides, box, false);
}
/// Encodes a tensor map of the `elements` elements from the multiple of 16 bytes at or before x's first one on, whose
/// boxes are part of a row of x.
template <class T>
[[gnu::cold]] FUSEKIT_H bool encode_elements(TensorMap& map, TensorView<T> const& x, int elements,
                                             StemShape const& tile) {
    std::uint64_t const extents[] = {static_cast<std::uint64_t>(elements), 1, 1, 1}, strides[] = {16, 16, 16};
    std::uint32_t const box[] = {static_cast<std::uint32_t>(tile.box), 1, 1, 1};
    return encode_tiled(map, sizeof(T), 4, aligned_before(x.data), extents, strides, box, false);
}
/// Number of elements of x's tensor map if TMA loads rows by themselves: a multiple of 8, or 1, that ends within a
/// run's x of this layout at any address; 0 for strides or extents that the kernel does not address.
template <class T>
FUSEKIT_H constexpr int elements_of_rows(TensorView<T> const& x) {
    Extent span = 1;
    for (int mode = 0; mode < 4; ++mode) {
        if (x.layout.stride[mode] < 0 && x.layout.shape[mode] > 1) return 0;
        span += x.layout.stride[mode] * (x.layout.shape[mode] - 1);
    }
    if (span > Extent{1} << 30) return 0;
    return (max)(static_cast<int>(span) / StemShape::chunk * StemShape::chunk, 1);
}

template <>
struct Launcher<StemEntry> {
    template <class Schedule, class Plan, Element T>
    [[gnu::cold]] FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, T>>> launch(
        Gpu const& gpu, ConvOperands<Plan, T, T> const& operands, int, Unmet& unmet) {
        ConvParams<Plan, T, T> params{operands.bound, operands.x, operands.y};
        auto const kernel = kernel_of<Plan, StemGemm<Plan, Schedule, T>>();
        TensorView<T> const& y = params.y;
        Index<4> const of_y = y.layout.shape;
        StemShape const shape = StemEntry::shape<Schedule>(of_y, params.x.layout.shape[1], operands.filter,
                                                           has_aligned_rows(params.x), params.x.layout.stride[2]);
        params.stem = StemTiles(shape, of_y, Schedule::channels, Schedule::window_bytes);
        int const elements = elements_of_rows(params.x);
        unmet =
            first_unmet(unmet_by_code(gpu, kernel), unmet_by_packets(y),
                        unmet_by_tma(y.layout, y.data, sizeof(T), names_of_y), unmet_by_read(operands, unmet_by_tma),
                        holds(!shape.by_rows || elements > 0,
                              "rows of x are not at multiples of 16 bytes, and x has more than 2^30 elements or a "
                              "negative stride",
                              "use MatrixGemm"));
        if (unmet) return {};
        if (shape.by_rows) {
            params.stem.elements = elements;
            params.stem.image_step = static_cast<int>(params.x.layout.stride[0]);
            params.stem.row_step = static_cast<int>(params.x.layout.stride[2]);
        }
        struct {
            int pitch, rows;
        } const box{shape.columns(), shape.rows()};
        params.maps.in_use = encode_maps(gpu, unmet, [&] {
            return (shape.by_rows ? encode_elements(params.maps.x, params.x, elements, shape)
                                  : encode_rows_of_pixels(params.maps.x, params.x, shape)) &&
                   encode_rows_of_y(params.maps.y, y, box) &&
                   encode_read(params, [&](TensorMap& map, auto const& z) { return encode_rows_of_y(map, z, box); });
        });
        if (!params.maps.in_use) return {};
        std::int64_t const columns = divide_up(of_y[1], Schedule::channels), tiles = shape.tiles(of_y),
                           most = columns < gpu.processors() ? gpu.processors() / columns : 1;
        return *prepare_launch(gpu, kernel, params, columns * (tiles < most ? tiles : most));
    }
};

}  // namespace fusekit::hip::detail
