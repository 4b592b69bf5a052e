// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/dispatch/orders.hpp"
#include "fusekit/backend/hip/mainloop/grouped.hpp"
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
        return refuse_schedule(type_name<Plan>(), GroupedEntry::name, unmet);
    }

    /// For the library's own selection. Precondition: can_implement().
    template <class Schedule, class Plan, Element T, OutputElement U>
    FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, U>>> launch(Gpu const& gpu,
                                                                  ConvOperands<Plan, T, U> const& operands, int,
                                                                  Unmet& unmet) {
        ConvParams<Plan, T, U> params = conv_params(operands);
        using Mainloop = GroupedConv<Plan, Schedule, T, U>;
        auto const kernel = kernel_of<Plan, Mainloop>();
        Index<4> const &x = params.x.layout.shape, &y = params.y.layout.shape;
        GroupedProblem const problem = grouped_problem(x, y, operands.filter);
        Filter<2> const& filter = problem.filter;
        GroupedTile const tile = choose_grouped_tile(problem, gpu.processors()).tile;
        constexpr int of_x = 16 / static_cast<int>(sizeof(T)), of_y = (min)(16 / static_cast<int>(sizeof(U)), 8);
        std::int64_t const filter_blocks = divide_up(y[1], std::int64_t{tile.units} * GroupedTile::unit);
        unmet = first_unmet(
            GroupedEntry::unmet_by_tile(tile), unmet_by_extents(operands),
            holds(problem::vectorizable(params.x, of_x, 1), "pixels of x are not at multiples of 16 bytes",
                  "use NativeGemm"),
            holds(problem::vectorizable(params.y, of_y, 1), "pixels of y are not at multiples of 16 bytes",
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
};

}  // namespace fusekit::hip::detail
