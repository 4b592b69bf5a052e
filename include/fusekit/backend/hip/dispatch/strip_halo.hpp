// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/mainloop/strip_halo.hpp"
#include "fusekit/backend/hip/schedule/strip_halo.hpp"

namespace fusekit::hip::detail {

template <>
struct Launcher<StripHaloEntry> {
    template <class Schedule, class Plan, Element T, OutputElement U>
    FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, U>>> launch(Gpu const& gpu,
                                                                  ConvOperands<Plan, T, U> const& operands, int,
                                                                  Unmet& unmet) {
        ConvParams<Plan, T, U> params{operands.bound, operands.x, operands.y};
        auto const kernel = kernel_of<Plan, StripHaloGemm<Plan, Schedule, T, U>>();
        constexpr bool is_transposed = has_transposed_conv<Plan>;
        auto const stored = typed<T>(Plan::Head::filters(params.bound.head)),
                   w = is_transposed ? transposed(stored, 0, 1) : stored;
        unmet = first_unmet(unmet_by_code(gpu, kernel), unmet_by_layouts<T const, T const, U>(params.x, w, params.y));
        if (unmet) return {};
        Index<4> const& of_y = operands.output;
        constexpr int pooled = Plan::pools ? 2 : 1;
        HaloStripShape const shape = HaloStripShape::of(window_filter(operands.filter), of_y[1]);
        HaloStrips& strips = params.halo_strips;
        strips.set(shape, params.x.layout.shape[1], of_y);
        int const of_tile = is_transposed ? HaloStripShape::channels : shape.tile_filters(),
                  filters = is_transposed || of_y[1] >= of_tile ? of_tile : static_cast<int>(of_y[1]);
        bool const encoded = encode_maps(gpu, unmet, [&] {
            return encode_image_rows(params.maps.x, params.x, strips.pitch, 1, {}) &&
                   encode_filters(params.maps.w, w, HaloStripShape::channels, static_cast<std::uint32_t>(filters),
                                  false) &&
                   encode_image_rows(params.maps.y, params.y, HaloStripShape::columns / pooled, 1, {});
        });
        if (!encoded) return {};
        params.maps.in_use = true;
        std::int64_t const tiles = strips.tiles, most = gpu.processors();
        return *prepare_launch(gpu, kernel, params, tiles < most ? tiles : most);
    }
};

}  // namespace fusekit::hip::detail
