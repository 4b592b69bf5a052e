// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/dispatch/orders.hpp"
#include "fusekit/backend/hip/mainloop/grouped.hpp"
#include "fusekit/backend/hip/mainloop/grouped_tma.hpp"
#include "fusekit/backend/hip/schedule/grouped.hpp"

namespace fusekit::hip::detail {

template <>
struct Launcher<GroupedEntry> {
    /// For a schedule that the caller named.
    template <class Schedule, Orders, class Plan, Element T, OutputElement U>
    FUSEKIT_H static Result<Launch<ConvParams<Plan, T, U>>> prepare(Gpu const& gpu,
                                                                    ConvOperands<Plan, T, U> const& operands,
                                                                    int split_k, IndexLimits const& limits) {
        Unmet unmet = holds(GroupedEntry::runs_on(gpu.architecture()),
                            "the GPU is not of compute capability 8.0 or later", "use NativeGemm");
        if constexpr (GroupedEntry::has_kernel<Plan, T, U>) {
            if (!unmet) unmet = GroupedEntry::can_implement<Schedule, T, U>(case_of(operands, false, 0, limits));
            if (!unmet)
                if (auto const prepared = launch<Schedule>(gpu, operands, split_k, unmet)) return *prepared;
        } else if (!unmet) {
            unmet = holds(false, "the program has no code for compute capability 8.0 or later", "compile for it");
        }
        return refuse_schedule(type_name<Plan>, GroupedEntry::name, unmet);
    }

    /// For the library's own selection. Precondition: can_implement().
    template <class Schedule, class Plan, Element T, OutputElement U>
    [[gnu::cold]] FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, U>>> launch(
        Gpu const& gpu, ConvOperands<Plan, T, U> const& operands, int, Unmet& unmet) {
        if constexpr (GroupedEntry::has_tma_kernel<Plan, T, U>)
            if (auto const launch = launch_tma<Schedule>(gpu, operands)) return *launch;
        ConvParams<Plan, T, U> params = conv_params(operands);
        using Mainloop = GroupedConv<Plan, Schedule, T, U>;
        auto const kernel = kernel_of<Plan, Mainloop>();
        Index<4> const &x = params.x.layout.shape, &y = params.y.layout.shape;
        GroupedProblem const problem = grouped_problem(x, y, operands.filter);
        Filter<2> const& filter = problem.filter;
        GroupedTile const tile = choose_grouped_tile(problem, gpu.processors()).tile;
        bool const x_planes = params.x.layout.stride[1] != 1, y_planes = params.y.layout.stride[1] != 1;
        constexpr int of_x = 16 / static_cast<int>(sizeof(T)), of_y = (min)(16 / static_cast<int>(sizeof(U)), 8);
        std::int64_t const filter_blocks = divide_up(y[1], std::int64_t{tile.units} * GroupedTile::unit);
        unmet = first_unmet(
            GroupedEntry::unmet_by_tile(tile), unmet_by_extents(operands),
            holds(x_planes || problem::vectorizable(params.x, of_x, 1), "pixels of x are not at multiples of 16 bytes",
                  "use NativeGemm"),
            holds(y_planes || problem::vectorizable(params.y, of_y, 1), "pixels of y are not at multiples of 16 bytes",
                  "use NativeGemm"),
            holds(kernel.is_launchable(gpu.index()), "the program has no code for the GPU with 96 KB of shared memory",
                  "compile for it, or use NativeGemm"));
        if (unmet) return {};

        GroupedTiles& tiles = params.grouped;
        auto const divisor = [](std::int64_t value) { return FastDivmod(static_cast<std::uint32_t>(value)); };
        tiles.tile = tile;
        tiles.filter_blocks = divisor(filter_blocks);
        tiles.tiles_across = divisor(divide_up(problem.q, std::int64_t{tile.columns}));
        tiles.tiles_down = divisor(divide_up(problem.p, std::int64_t{tile.rows}));
        tiles.columns = divisor(tile.columns), tiles.strips = divisor(tile.rows / GroupedTile::strip);
        tiles.halo_blocks = divisor(tile.halo_blocks);
        tiles.row_vectors = divisor(tile.halo_columns * tile.halo_blocks);
        tiles.row_step = (max)(Schedule::threads / static_cast<int>(tiles.row_vectors.value()), 1);
        tiles.halo_columns = divisor(tile.halo_columns), tiles.x_planes = x_planes, tiles.y_planes = y_planes;
        tiles.channel_blocks = divisor(tile.channel_blocks), tiles.filter_columns = divisor(filter.size[1]);
        tiles.group_filters = divisor(y[1] / filter.group_count);
        tiles.group_channels = static_cast<int>(x[1] / filter.group_count);
        auto const w = typed<T>(Plan::Head::filters(params.bound.head));
        tiles.paired_weights = problem::vectorizable(w, 2, 1);
        std::int64_t const ctas = divide_up(y[0], std::int64_t{tile.images}) * filter_blocks *
                                  tiles.tiles_across.value() * tiles.tiles_down.value();
        Launch<ConvParams<Plan, T, U>> result = *prepare_launch(gpu, kernel, params, ctas);
        constexpr std::int64_t other_bytes = sizeof(typename Mainloop::DynamicShared) - GroupedTile::max_shared_bytes;
        result.shared_bytes = static_cast<unsigned>(other_bytes + tile.bytes());
        return result;
    }

private:
    /// Launch of GroupedTmaConv; empty if it does not compute the convolution.
    template <class Schedule, class Plan, Element T, OutputElement U>
    [[gnu::cold]] FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, U>>> launch_tma(
        Gpu const& gpu, ConvOperands<Plan, T, U> const& operands) {
        ConvParams<Plan, T, U> params = conv_params(operands);
        using Mainloop = GroupedTmaConv<Plan, Schedule, T, U>;
        auto const kernel = kernel_of<Plan, Mainloop>();
        Index<4> const &x = params.x.layout.shape, &y = params.y.layout.shape;
        GroupedProblem const problem = grouped_problem(x, y, operands.filter);
        if (!has_tma_groups(problem) || unmet_by_extents(operands) ||
            unmet_by_tma(params.x.layout, params.x.data, sizeof(T)) ||
            unmet_by_tma(params.y.layout, params.y.data, sizeof(U)) || unmet_by_packets(params.y) ||
            unmet_by_code(gpu, kernel))
            return {};
        GroupedTmaChoice const choice = choose_tma_tile(problem, gpu.processors());
        GroupedTmaTile const& tile = choice.tile;
        if (tile.rows == 0) return {};
        Unmet unmet;
        params.maps.in_use = encode_maps(gpu, unmet, [&] {
            auto const encode = [&](auto& maps) {
                return encode_box(maps.x, params.x, tile, tile.box_columns, tile.box_rows) &&
                       encode_box(maps.y, params.y, tile, tile.columns * tile.phases, tile.rows * tile.phases);
            };
            if constexpr (Mainloop::spreads) return encode(params.maps.whole());
            else return encode(params.maps);
        });
        if (!params.maps.in_use) return {};
        GroupedTmaTiles& tiles = params.grouped_tma;
        auto const divisor = [](std::int64_t value) { return FastDivmod(static_cast<std::uint32_t>(value)); };
        std::int64_t const across = divide_up(problem.q, std::int64_t{tile.columns}),
                           down = divide_up(problem.p, std::int64_t{tile.rows}),
                           count = divide_up(y[0], std::int64_t{tile.images}) * down * across,
                           blocks = divide_up(y[1], std::int64_t{tile.channels}),
                           at_once = std::int64_t{gpu.processors()} * choice.resident / blocks,
                           most = at_once > 0 ? at_once : 1;
        if (count >= std::int64_t{1} << 31) return {};
        tiles.tile = tile, tiles.count = static_cast<unsigned>(count);
        tiles.channel_blocks = divisor(blocks), tiles.across = divisor(across), tiles.down = divisor(down);
        tiles.runs_across = divisor(tile.columns / GroupedTmaTile::run), tiles.rows = divisor(tile.rows);
        tiles.group_channels = divisor(x[1] / operands.filter.group_count);
        auto const w = typed<T>(Plan::Head::filters(params.bound.head));
        // filters of a gradient by x are contiguous in the weights of a channel of x
        tiles.by_channels = Mainloop::is_gradient && tile.group >= 16 && problem::vectorizable(w, 8, 0);
        tiles.vectors = tiles.by_channels || problem::vectorizable(w, tile.group < 16 ? 2 : 8, 1);
        Launch<ConvParams<Plan, T, U>> result =
            *prepare_launch(gpu, kernel, params, blocks * (count < most ? count : most));
        constexpr int other_bytes = sizeof(typename Mainloop::DynamicShared) - GroupedTmaTile::max_shared_bytes;
        result.shared_bytes = static_cast<unsigned>(other_bytes + tile.bytes());
        result.threads = static_cast<unsigned>(tile.warps) * 32;
        return result;
    }

    /// Encodes a tensor map in boxes of `rows` x `columns` pixels of the tile's channels and images.
    template <class V>
    [[gnu::cold]] FUSEKIT_H static bool encode_box(TensorMap& map, TensorView<V> const& view,
                                                   GroupedTmaTile const& tile, int columns, int rows) {
        MapModes<V> const modes(view);
        auto const number = [](int value) { return static_cast<std::uint32_t>(value); };
        std::uint32_t const box[] = {number(tile.channels), number(columns), number(rows), number(tile.images)};
        return encode_tiled(map, sizeof(V), 4, view.data, modes.extents, modes.strides, box);
    }
};

}  // namespace fusekit::hip::detail
