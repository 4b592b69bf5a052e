// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/mainloop/tma_planes.hpp"
#include "fusekit/backend/hip/schedule/tma_planes.hpp"

namespace fusekit::hip::detail {

/// Encodes the tensor map of planes of x for TmaPlanes.
template <class T>
[[gnu::cold]] FUSEKIT_H bool encode_plane_groups(TensorMap& map, TensorView<T> const& x, TmaPlaneTiles const& tiles) {
    Index<4> const& shape = x.layout.shape;
    auto const plane = static_cast<std::uint64_t>(tiles.plane),
               image = static_cast<std::uint64_t>(shape[0] == 1 ? shape[1] * tiles.plane : x.layout.stride[0]);
    std::uint64_t const extents[] = {plane, static_cast<std::uint64_t>(shape[1]), static_cast<std::uint64_t>(shape[0]),
                                     1},
                        strides[] = {plane * sizeof(T), image * sizeof(T), 16};
    std::uint32_t const box[] = {TmaPlaneTiles::pixels, TmaPlaneTiles::channels, 1, 1};
    return encode_tiled(map, sizeof(T), 4, x.data, extents, strides, box);
}

template <>
struct Launcher<TmaPlanesEntry> {
    template <class Schedule, class Plan, Element T, OutputElement U>
    [[gnu::cold]] FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, U>>> launch(
        Gpu const& gpu, ConvOperands<Plan, T, U> const& operands, int, Unmet& unmet) {
        auto const kernel = kernel_of<Plan, TmaPlanesGemm<Plan, Schedule, T>>();
        ConvParams<Plan, T, U> params{operands.bound, operands.x, operands.y};
        auto const stored = typed<T>(Plan::Head::filters(params.bound.head)),
                   w = has_transposed_conv<Plan> ? transposed(stored, 0, 1) : stored;
        unmet = first_unmet(unmet_by_code(gpu, kernel), unmet_by_tma(w.layout, w.data, sizeof(T), names_of_w));
        if (unmet) return {};
        Index<4> const& x = params.x.layout.shape;
        TmaPlaneTiles& tiles = params.tma_planes;
        tiles = TmaPlaneTiles::of(x[0], x[2] * x[3], x[1], params.y.layout.shape[1], gpu.processors());
        // of the transposed weights, a box has 64 channels of y in each row and 64 channels of x
        if (has_transposed_conv<Plan>) tiles.box_filters = TmaPlaneTiles::filters;
        params.maps.in_use = encode_maps(gpu, unmet, [&] {
            MapModes<T const> const of_w(w);
            std::uint32_t const box[] = {TmaPlaneTiles::channels, 1, 1, static_cast<std::uint32_t>(tiles.box_filters)};
            return encode_plane_groups(params.maps.x, params.x, tiles) &&
                   encode_tiled(params.maps.w, sizeof(T), 4, w.data, of_w.extents, of_w.strides, box);
        });
        if (!params.maps.in_use) return {};
        params.maps.y = params.maps.x;  // unused, but patched with y's address
        int const together = tiles.cooperative ? 1 : TmaPlaneTiles::warpgroups;
        std::int64_t const most = gpu.processors(), all = divide_up_32(static_cast<int>(tiles.tiles), together);
        return *prepare_launch(gpu, kernel, params, all < most ? all : most);
    }
};

}  // namespace fusekit::hip::detail
