// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/mainloop/strip_halo.hpp"
#include "fusekit/backend/hip/schedule/strip_halo.hpp"

namespace fusekit::hip::detail {

template <>
struct Launcher<StripHaloEntry> {
    template <class Schedule, class Plan, Element T, OutputElement U>
    [[gnu::cold]] FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, U>>> launch(
        Gpu const& gpu, ConvOperands<Plan, T, U> const& operands, int, Unmet& unmet) {
        ConvParams<Plan, T, U> params{operands.bound, operands.x, operands.y};
        auto const kernel = kernel_of<Plan, StripHaloGemm<Plan, Schedule, T, U>>();
        constexpr bool is_transposed = has_transposed_conv<Plan>;
        auto const stored = typed<T>(Plan::Head::filters(params.bound.head)),
                   w = is_transposed ? transposed(stored, 0, 1) : stored;
        constexpr bool doubles = StripHaloEntry::doubles<Plan>;
        constexpr bool loads = strips_read_in_bulk<Plan, T, U>;
        unmet = first_unmet(unmet_by_code(gpu, kernel), unmet_by_layouts<T const, T const, U>(params.x, w, params.y),
                            unmet_by_read<loads>(operands, unmet_by_tma));
        if (unmet) return {};
        Index<4> const of_y = operands.output;
        constexpr int pooled = Plan::pools ? 2 : 1;
        Filter<2> const window = [&] {
            if constexpr (doubles) return filter(4, 4);
            else return window_filter(operands.filter);
        }();
        HaloStripShape const shape = HaloStripShape::of(window, of_y[1], StripHaloEntry::shares_memory<Plan>, doubles);
        HaloStrips& strips = params.halo_strips;
        strips.set(shape, params.x.layout.shape[1], of_y, window);
        int const of_tile = is_transposed ? HaloStripShape::channels : shape.tile_filters(),
                  filters = is_transposed || of_y[1] >= of_tile ? of_tile : static_cast<int>(of_y[1]);
        bool const encoded = encode_maps(gpu, unmet, [&] {
            return encode_image_rows(params.maps.x, params.x, strips.pitch, 1, {}) &&
                   encode_filters(params.maps.w, w, HaloStripShape::channels, static_cast<std::uint32_t>(filters),
                                  false) &&
                   (doubles ? encode_phase_rows(params.maps.y, params.y)
                            : encode_image_rows(params.maps.y, params.y, HaloStripShape::columns / pooled, 1, {})) &&
                   encode_read<loads>(params, [&](TensorMap& map, auto const& z) {
                       return encode_image_rows(map, z, HaloStripShape::columns, 1, {});
                   });
        });
        if (!encoded) return {};
        params.maps.in_use = true;
        std::int64_t const tiles = strips.tiles;
        std::int64_t most = gpu.processors();
        if constexpr (Plan::totals_tiles) {
            // a CTA has tiles of the same channels; scratch has one total per channel and 64 pixels
            std::int64_t const channel_tiles = strips.channel_tiles.value(),
                               held = divide_up(of_y[0] * of_y[2] * of_y[3], total_pixels) / shape.pixel_groups();
            most = most / channel_tiles < held ? most / channel_tiles : held;
            most = (most > 1 ? most : 1) * channel_tiles;
        }
        return *prepare_launch(gpu, kernel, params, tiles < most ? tiles : most, LaunchMode::plain,
                               Plan::totals_tiles ? GridShares::workspace_bytes : 0);
    }

private:
    /// Encodes a tensor map of one image of y, (K, 2, Q / 2, 2, P / 2), in boxes of 8 columns of one row of a phase.
    template <class U>
    [[gnu::cold]] FUSEKIT_H static bool encode_phase_rows(TensorMap& map, TensorView<U> const& y) {
        MapModes<U> const modes(y);
        std::uint64_t const extents[] = {modes.extents[0], 2, modes.extents[1] / 2, 2, modes.extents[2] / 2},
                            strides[] = {modes.strides[0], 2 * modes.strides[0], modes.strides[1],
                                         2 * modes.strides[1]};
        std::uint32_t const box[] = {channels_of_row<U>, 1, HaloStripShape::columns, 1, 1};
        return encode_tiled(map, sizeof(U), 5, y.data, extents, strides, box);
    }
};

}  // namespace fusekit::hip::detail
