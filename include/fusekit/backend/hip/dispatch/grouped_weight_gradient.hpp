// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/split.hpp"
#include "fusekit/backend/hip/dispatch/split_pixels.hpp"
#include "fusekit/backend/hip/mainloop/grouped_weight_gradient.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::hip::detail {

/// Prepares a launch of GroupedWeightGradient; empty if it cannot compute the weight gradient. Precondition: x and dy
/// have elements.
template <class Plan, Element T, OutputElement U>
FUSEKIT_H Maybe<Launch<WeightGradientParams<Plan, T, U>>> prepare_grouped_gradient(
    Gpu const& gpu, WeightGradientParams<Plan, T, U> params, std::size_t workspace_bytes) {
    using Mainloop = GroupedWeightGradient<Plan, T, U>;
    using Tiles = GroupedGradientTiles;
    auto const kernel = kernel_of<Plan, Mainloop>();
    constexpr auto filter = Plan::Head::collapsed;
    TensorView<T const> const dy = without_idle_strides(typed<T>(params.bound.head.dy));
    std::int64_t const channels = params.y.layout.shape[1], filters = dy.layout.shape[1] / filter.group_count;
    bool const is_group =
        channels == filters && (channels == 4 || channels == 8 || channels == 16 ||
                                (channels == 32 && filter.size[0] * filter.size[1] <= Mainloop::max_taps_of_32));
    if (!is_group || dy.layout.shape[1] % 8 != 0 || !problem::vectorizable(params.x, 8, 1) ||
        !problem::vectorizable(dy, 8, 1) ||
        !with_tag(gpu.architecture(), []<class Tag>(Tag) { return std::is_base_of_v<arch::Sm80, Tag>; }) ||
        !kernel.is_launchable(gpu.index()))
        return {};
    Tiles const tiles = choose_gradient_tiles(filter, dy.layout.shape, gpu.processors());
    if (tiles.items == 0) return {};
    params.grouped = tiles;
    params.grouped.group_channels = FastDivmod(static_cast<std::uint32_t>(channels));
    bool const is_wide = channels == 32;
    using Narrow = typename Mainloop::template Accumulators<1>;
    using Wide = typename Mainloop::template Accumulators<2>;
    std::int64_t const units = tiles.units, floats = is_wide ? Wide::floats : Narrow::floats,
                       bytes = floats * static_cast<std::int64_t>(sizeof(float)),
                       sums = static_cast<std::int64_t>(is_wide ? sizeof(Wide) : sizeof(Narrow)),
                       stages = tiles.bytes();
    SplitKGroups const& split_k = params.split_k =
        choose_split_k(launches_clusters(gpu), units, 1, units * gradient_splits(units, gpu.processors()), tiles.items,
                       bytes, workspace_bytes);
    bool const promotes = is_wide ? Mainloop::template promotes<2> : Mainloop::template promotes<1>;
    if (!promotes && divide_up(tiles.items, split_k.count()) * tiles.steps() * 16 > Mainloop::max_unpromoted_pixels)
        return {};
    auto launch = prepare_launch(
        gpu, kernel, params, units * split_k.count(), split_k.cluster > 1 ? LaunchMode::clusters : LaunchMode::plain,
        split_k.groups > 1 ? GroupWorkspace::state_bytes + static_cast<std::size_t>(units * split_k.groups * bytes) : 0,
        split_k.cluster);
    if (!launch) return {};
    Launch<WeightGradientParams<Plan, T, U>> result = *launch;
    result.shared_bytes = static_cast<unsigned>(stages > sums ? stages : sums);
    return result;
}

}  // namespace fusekit::hip::detail
