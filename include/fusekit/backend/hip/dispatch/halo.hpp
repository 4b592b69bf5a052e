// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/mainloop/halo.hpp"
#include "fusekit/backend/hip/mainloop/tiled_halo.hpp"
#include "fusekit/backend/hip/schedule/halo.hpp"

namespace fusekit::hip::detail {

template <>
struct Launcher<HaloEntry> {
    template <class Schedule, class Plan, Element T, OutputElement U>
    FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, U>>> launch(Gpu const& gpu,
                                                                  ConvOperands<Plan, T, U> const& operands, int,
                                                                  Unmet& unmet) {
        ConvParams<Plan, T, U> params{operands.bound, operands.x, operands.y};
        Index<4> const of_y = params.y.layout.shape;
        auto const height = static_cast<int>(of_y[2]), width = static_cast<int>(of_y[3]);
        constexpr bool keeps_rows = sizeof(T) == 1 || has_transposed_conv<Plan> || Plan::totals_tiles ||
                                    Plan::Epilogue::maxima > 0 || Plan::Epilogue::reads_image;
        auto const shape = HaloShapeOf<Schedule, T, U>::of(height, width, window_filter(operands.filter),
                                                           Schedule::halo_bytes, keeps_rows);
        Extent const channels = params.x.layout.shape[1];
        bool const tiled = shape.splits_rows || channels > Schedule::channels || of_y[1] > Schedule::channels;
        auto const kernel = tiled ? kernel_of<Plan, TiledHaloGemm<Plan, Schedule, T, U>>()
                                  : kernel_of<Plan, HaloGemm<Plan, Schedule, T, U>>();
        auto const stored = typed<T>(Plan::Head::filters(params.bound.head)),
                   w = has_transposed_conv<Plan> ? transposed(stored, 0, 1) : stored;
        std::int64_t const pixels = of_y[0] * of_y[2] * of_y[3], channel_tiles = divide_up(of_y[1], Schedule::channels),
                           tiles = of_y[0] * shape.tiles_of_image(height, width) * channel_tiles;
        unmet = first_unmet(unmet_by_code(gpu, kernel), unmet_by_layouts<T const, T const, U>(params.x, w, params.y),
                            unmet_by_read(operands, unmet_by_tma),
                            at_least("pixels of y", Plan::totals_tiles && tiles > 1 ? pixels : 65, 65,
                                     "ChannelStatistics of several tiles need 65: use WarpSpecialized"));
        if (unmet) return {};
        bool const encoded = encode_maps(gpu, unmet, [&] {
            return encode_rows(params.maps, params.x, w, params.y, shape, Schedule::channels) &&
                   encode_read(params, [&](TensorMap& map, auto const& z) {
                       return encode_rows_of_y(map, z, shape.box_of_y());
                   });
        });
        if (!encoded) return {};
        params.tiled_halo = TiledHalo(shape, channels, of_y, Schedule::halo_bytes, Schedule::max_stages);
        std::int64_t most = (max)(gpu.processors() / static_cast<int>(channel_tiles), 1) * channel_tiles;
        // scratch has one total per channel and 64 pixels, and each warpgroup writes one: limits the number of
        // warpgroups
        if constexpr (Plan::totals_tiles) {
            std::int64_t const held = divide_up(pixels, 64),
                               blocks = held > Schedule::consumers ? held / Schedule::consumers : 1;
            if (blocks < most) most = blocks;
        }
        return *prepare_launch(gpu, kernel, params, tiles < most ? tiles : most, LaunchMode::plain,
                               Plan::totals_tiles ? GridShares::workspace_bytes : 0);
    }
};

}  // namespace fusekit::hip::detail
