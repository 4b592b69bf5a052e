// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/split.hpp"
#include "fusekit/backend/hip/dispatch/split_pixels.hpp"
#include "fusekit/backend/hip/mainloop/grouped_weight_gradient.hpp"
#include "fusekit/backend/hip/tuning/grouped_gradient.hpp"
#include "fusekit/problem/facts.hpp"

namespace fusekit::hip::detail {

/// Prepares a launch of GroupedWeightGradient; empty if it cannot compute the weight gradient. Precondition: x and dy
/// have elements.
template <class Plan, Element T, OutputElement U>
FUSEKIT_H Maybe<Launch<WeightGradientParams<Plan, T, U>>> prepare_grouped_gradient(
    Gpu const& gpu, WeightGradientParams<Plan, T, U> params, std::size_t workspace_bytes) {
    using Mainloop = GroupedWeightGradient<Plan, T, U>;
    auto const kernel = kernel_of<Plan, Mainloop>();
    auto const filter = Plan::Head::geometry(params.bound.head);
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
    bool const is_wide = channels == 32;
    using Narrow = typename Mainloop::template Accumulators<1>;
    using Wide = typename Mainloop::template Accumulators<2>;
    std::int64_t const floats = is_wide ? Wide::floats : Narrow::floats,
                       bytes = floats * static_cast<std::int64_t>(sizeof(float)),
                       sums = static_cast<std::int64_t>(is_wide ? sizeof(Wide) : sizeof(Narrow));
    auto const choice = choose_grouped_gradient(filter, dy.layout.shape, split_limits(gpu, workspace_bytes, bytes));
    if (choice.tiles.items == 0) return {};
    params.grouped = choice.tiles;
    params.grouped.group_channels = FastDivmod(static_cast<std::uint32_t>(channels));
    std::int64_t const stages = choice.tiles.bytes();
    auto launch = prepare_split_gradient(gpu, kernel, params, choice.tiles.units, choice.split, bytes);
    if (!launch) return {};
    Launch<WeightGradientParams<Plan, T, U>> result = *launch;
    result.shared_bytes = static_cast<unsigned>(stages > sums ? stages : sums);
    return result;
}

}  // namespace fusekit::hip::detail
