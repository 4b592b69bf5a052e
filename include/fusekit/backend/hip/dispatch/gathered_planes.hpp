// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/mainloop/gathered_planes.hpp"
#include "fusekit/backend/hip/schedule/gathered_planes.hpp"

namespace fusekit::hip::detail {

/// True if filters are in KCRS order, with dense taps and channels, and each starts at a multiple of 16 bytes.
FUSEKIT_H inline bool has_dense_filters(Layout<4> const& w, void const* data, int element_bytes) {
    Index<4> const &shape = w.shape, &stride = w.stride;
    return (shape[3] == 1 || stride[3] == 1) && (shape[2] == 1 || stride[2] == shape[3]) &&
           (shape[1] == 1 || stride[1] == shape[2] * shape[3]) &&
           (shape[0] == 1 || (stride[0] > 0 && stride[0] * element_bytes % 16 == 0)) && problem::aligned(data, 16);
}

/// Encodes a tensor map of filters for which has_dense_filters() is true; a box has `filters` filters, each with all
/// taps of 8 channels.
template <class W>
FUSEKIT_H bool encode_dense_filters(TensorMap& map, TensorView<W> const& w, int filters) {
    Index<4> const &shape = w.layout.shape, &stride = w.layout.stride;
    auto const of_filter = shape[1] * shape[2] * shape[3], pitch = shape[0] == 1 ? of_filter : stride[0];
    std::uint64_t const extents[] = {static_cast<std::uint64_t>(of_filter), static_cast<std::uint64_t>(shape[0])},
                        strides[] = {static_cast<std::uint64_t>(pitch) * sizeof(W)};
    std::uint32_t const box[] = {static_cast<std::uint32_t>(8 * shape[2] * shape[3]),
                                 static_cast<std::uint32_t>(filters)};
    return encode_tiled(map, sizeof(W), 2, w.data, extents, strides, box, false);
}

template <>
struct Launcher<GatheredPlanesEntry> {
    template <class Schedule, class Plan, Element T>
    FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, T>>> launch(Gpu const& gpu,
                                                                  ConvOperands<Plan, T, T> const& operands, int,
                                                                  Unmet& unmet) {
        ConvParams<Plan, T, T> params{operands.bound, operands.x, operands.y};
        auto const kernel = kernel_of<Plan, GatheredPlanesGemm<Plan, Schedule, T>>();
        GatherTiles& tiles = params.gather;
        tiles = gather_tiles(params.x.layout.shape, params.y.layout.shape, window_filter(operands.filter),
                             gpu.processors());
        auto const w = typed<T>(Plan::Head::filters(params.bound.head));
        unmet = first_unmet(unmet_by_code(gpu, kernel), GatheredPlanesEntry::unmet_by_tiles(tiles),
                            holds(has_dense_filters(w.layout, w.data, sizeof(T)),
                                  "weights are not dense, in KCRS order, at multiples of 16 bytes", "use MatrixGemm"));
        if (unmet) return {};
        params.channels_fastest = false;
        if (!encode_maps(gpu, unmet, [&] { return encode_dense_filters(params.maps.w, w, tiles.tile_filters()); }))
            return {};
        std::int64_t const most = gpu.processors();
        return *prepare_launch(gpu, kernel, params, tiles.tiles < most ? tiles.tiles : most);
    }
};

}  // namespace fusekit::hip::detail
