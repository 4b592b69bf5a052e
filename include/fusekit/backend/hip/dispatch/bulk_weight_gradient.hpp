// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "fusekit/backend/hip/bulk_maps.hpp"
#include "fusekit/backend/hip/dispatch/halo.hpp"
#include "fusekit/backend/hip/dispatch/split.hpp"
#include "fusekit/backend/hip/mainloop/bulk_weight_gradient.hpp"

namespace fusekit::hip {

namespace detail {

/// Among how many blocks a tile's steps are shared: the number that takes the fewest cycles, where a step takes 1024, a
/// block 6000 more, and what blocks merge 2000 in a cluster, of `most_cluster` blocks at most, or 6000 through
/// workspace, which has room for `most_sums` tiles of sums.
inline BlockParts choose_bulk_parts(std::int64_t tiles, std::int64_t steps, std::int64_t processors,
                                    std::int64_t most_sums, unsigned most_cluster) {
    BlockParts best;
    std::int64_t least = 0;
    for (unsigned cluster = 1; cluster <= most_cluster && cluster <= processors; ++cluster)
        for (unsigned groups = 1; groups == 1 || tiles * groups <= most_sums; ++groups) {
            std::int64_t const parts = std::int64_t{cluster} * groups;
            if (parts > steps || (groups > 1 && tiles * cluster > std::int64_t{GroupWorkspace::most_grid_groups}))
                break;
            std::int64_t const rounds = divide_up(tiles * groups, processors / cluster),
                               cycles = rounds * (divide_up(steps, parts) * 1024 + 6000 + (cluster > 1 ? 2000 : 0) +
                                                  (groups > 1 ? 6000 : 0));
            if (least != 0 && cycles >= least) continue;
            least = cycles;
            best.cluster = cluster, best.groups = groups;
        }
    return best;
}

}  // namespace detail

/// The launch with one schedule, of a tile's pixels shared as `parts` says; nothing where an operand does not lie as
/// its bulk copies need it, or the program or the GPU has no such kernel.
template <class Schedule, class Plan, Element T, detail::OutputElement U>
std::optional<Launch<WeightGradientParams<Plan, T, U>>> launch_bulk_weight_gradient(
    Gpu const& gpu, WeightGradientParams<Plan, T, U> params, BlockParts const& parts) {
    using Mainloop = BulkWeightGradient<Plan, Schedule, T, U>;
    constexpr int block = 64, pixels = Mainloop::step_pixels;
    if (!is_launchable<Plan, Mainloop>(gpu.index())) return {};
    Refusal refusal;
    DeviceGuard const guard(gpu.index(), &refusal);
    auto const filter = Plan::Head::geometry(params.bound.head);
    auto const dy = detail::typed<T>(params.bound.head.dy);
    auto& maps = params.maps;
    maps.has_windows = !(detail::is_single_pixels(filter) && detail::encode_pixels(maps.x, params.x, block, pixels));
    maps.in_use = !refusal && detail::encode_pixels(maps.dy, dy, block, pixels) &&
                  (!maps.has_windows || detail::encode_windows(maps.x, params.x, filter, block, pixels));
    if (!maps.in_use) return {};
    Index<4> const& shape = dy.layout.shape;
    std::int64_t const tiles = Mainloop::tiles(params.y.layout.shape, params.bound.head.bias_gradient.given()),
                       steps = detail::divide_up(shape[0] * shape[2] * shape[3], pixels);
    params.parts = parts;
    params.part_pixels = static_cast<int>(detail::divide_up(steps, parts.count())) * pixels;
    auto launch = prepare_launch<Plan, Mainloop>(
        gpu, params, tiles * parts.count(), Mainloop::threads,
        parts.cluster > 1 ? LaunchMode::clusters : LaunchMode::plain,
        parts.groups > 1 ? GroupWorkspace::state_bytes +
                               static_cast<std::size_t>(tiles * parts.groups) * Mainloop::Sums::floats * sizeof(float)
                         : 0);
    if (!launch) return {};
    auto whole = *launch;
    whole.cluster = parts.cluster;
    return whole;
}

/// Prepares a gradient by the weights on sm_90a's matrix units, with at most `workspace_bytes`, and `most_cluster`
/// blocks of a cluster, or 1 where the program launches none; nothing where there is no such launch.
template <class Plan, Element T, detail::OutputElement U>
std::optional<Launch<WeightGradientParams<Plan, T, U>>> prepare_bulk_weight_gradient(
    Gpu const& gpu, WeightGradientParams<Plan, T, U> const& params, std::size_t workspace_bytes,
    unsigned most_cluster) {
    using Schedule = WeightTile<128, 128, 128, 3>;
    using Mainloop = BulkWeightGradient<Plan, Schedule, T, U>;
    auto const filter = Plan::Head::geometry(params.bound.head);
    if (!detail::is_sm90a(gpu) || filter.group_count != 1) return {};
    Index<4> const& shape = params.bound.head.dy.layout.shape;
    std::int64_t const tiles = Mainloop::tiles(params.y.layout.shape, params.bound.head.bias_gradient.given()),
                       steps = detail::divide_up(shape[0] * shape[2] * shape[3], Mainloop::step_pixels);
    constexpr std::size_t tile_bytes = Mainloop::Sums::floats * sizeof(float), states = GroupWorkspace::state_bytes;
    std::int64_t const room =
        workspace_bytes < states ? 0 : static_cast<std::int64_t>((workspace_bytes - states) / tile_bytes);
    return launch_bulk_weight_gradient<Schedule>(
        gpu, params,
        detail::choose_bulk_parts(tiles, steps, gpu.processors(), room, launches_clusters(gpu) ? most_cluster : 1));
}

}  // namespace fusekit::hip
