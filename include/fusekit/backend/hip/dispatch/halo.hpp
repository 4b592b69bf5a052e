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
    [[gnu::cold]] FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, U>>> launch(
        Gpu const& gpu, ConvOperands<Plan, T, U> const& operands, int, Unmet& unmet) {
        ConvParams<Plan, T, U> params{operands.bound, operands.x, operands.y};
        Index<4> const& of_y = operands.output;
        auto const height = static_cast<int>(of_y[2]), width = static_cast<int>(of_y[3]);
        constexpr bool keeps_rows =
            sizeof(T) == 1 || Plan::totals_tiles || Plan::Epilogue::maxima > 0 || Plan::Epilogue::reads_image;
        HaloGroups const groups{static_cast<int>(operands.product().groups)};
        using Shape = HaloShapeOf<Schedule, T, U>;
        Filter<2> const filter = window_filter(operands.filter);
        // groups are computed in whole rows
        Shape const shape = groups.count > 1 ? Shape(height, width, filter)
                            : Plan::pools    ? Shape::fewest_tiles(height, width, filter, Schedule::halo_bytes, true)
                                             : Shape::of(height, width, filter, Schedule::halo_bytes, keeps_rows);
        Extent const channels = params.x.layout.shape[1];
        bool const tiled =
            groups.count == 1 && (shape.splits_rows || channels > Schedule::channels || of_y[1] > Schedule::channels);
        auto const kernel = kernel_for<Schedule, Plan, T, U>(tiled);
        auto const stored = typed<T>(Plan::Head::filters(params.bound.head)),
                   w = has_transposed_conv<Plan> ? transposed(stored, 0, 1) : stored;
        std::int64_t const pixels = of_y[0] * of_y[2] * of_y[3],
                           channel_tiles = groups.count > 1 ? 1 : divide_up(of_y[1], Schedule::channels),
                           tiles = of_y[0] * shape.tiles_of_image(height, width) * channel_tiles;
        unmet = first_unmet(
            unmet_by_code(gpu, kernel),
            groups.count > 1 ? first_unmet(unmet_by_tma(params.x.layout, params.x.data, sizeof(T), names_of_x),
                                           unmet_by_stores(params.y))
                             : unmet_by_layouts<T const, T const, U>(params.x, w, params.y),
            unmet_by_read(operands, unmet_by_tma),
            at_least("pixels of y", Plan::totals_tiles && tiles > 1 ? pixels : HaloEntry::least_pixels_of_totals,
                     HaloEntry::least_pixels_of_totals,
                     "ChannelStatistics of several tiles need 65: use WarpSpecialized"));
        if (unmet) return {};
        // The rows of a box of filters past a group's are those of the next group, whose results are not stored.
        bool const loads_filters = groups.count == 1 || (!has_transposed_conv<Plan> && problem::vectorizable(w, 8, 1) &&
                                                         w.layout.shape[0] / groups.count % 8 == 0);
        bool const encoded = encode_maps(gpu, unmet, [&] {
            return encode_rows<has_transposed_conv<Plan>>(params.maps, params.x, w, params.y, shape,
                                                          loads_filters ? Schedule::channels : 0, groups) &&
                   encode_read(params, [&](TensorMap& map, auto const& z) {
                       return encode_rows_of_y(map, z, shape.box_of_y(), groups);
                   });
        });
        if (!encoded) return {};
        if (tiled) params.tiled_halo = TiledHalo(shape, channels, of_y, Schedule::halo_bytes, Schedule::max_stages);
        std::int64_t most = (max)(gpu.processors() / static_cast<int>(channel_tiles), 1) * channel_tiles;
        if (groups.count > 1) {
            constexpr int columns = has_transposed_conv<Plan> ? 0 : 1;
            params.maps.filter_vector = loads_filters                               ? 0
                                        : problem::vectorizable(stored, 8, columns) ? 8
                                        : problem::vectorizable(stored, 2, columns) ? 2
                                                                                    : 1;
            most = most > groups.count ? most / groups.count : 1;
            return *prepare_launch(gpu, kernel, params, groups.count * (tiles < most ? tiles : most));
        }
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

private:
    template <class Schedule, class Plan, Element T, OutputElement U>
    FUSEKIT_H static Kernel<ConvParams<Plan, T, U>> kernel_for([[maybe_unused]] bool tiled) {
        if constexpr (requires { Schedule::is_tiled; }) {
            using Whole = typename Schedule::Whole;
            return kernel_of<Plan, std::conditional_t<Schedule::is_tiled, TiledHaloGemm<Plan, Whole, T, U>,
                                                      HaloGemm<Plan, Whole, T, U>>>();
        } else {
            return tiled ? kernel_of<Plan, TiledHaloGemm<Plan, Schedule, T, U>>()
                         : kernel_of<Plan, HaloGemm<Plan, Schedule, T, U>>();
        }
    }
};

}  // namespace fusekit::hip::detail
