// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/runtime/launch.hpp"

namespace fusekit::hip {

/// For a plan with ChannelStatistics: divides the tiles along y's pixels into groups of about sqrt(tiles) tiles. The
/// kernel merges the statistics of each group's tiles, then those of the groups. y has `tiles` tiles along its pixels
/// and `columns` along its channels. Returns the bytes of workspace, one GridGroup::State per group and per column; 0
/// without ChannelStatistics. Returns an Error if `columns` exceeds 1024, or if there are more tiles than totals in
/// scratch.
template <class Plan, class Params>
FUSEKIT_H Result<std::size_t> cut_totals(Params& params, std::int64_t tiles, std::int64_t columns) {
    std::size_t workspace_bytes = 0;
    if constexpr (Plan::totals_tiles) {
        std::int64_t const most = GroupWorkspace::max_grid_groups;
        if (Refusal refusal =
                refuse_limit(type_name<Plan>, "y", "at most 1024 tiles along the channels, for ChannelStatistics",
                             params.y.layout.shape, columns, most / 2 + 1))
            return *refusal;
        Index<4> const& y = params.y.layout.shape;
        // Each range of images (slabs.hpp) has its own tiles: if a range does not end at a multiple of 64 pixels, there
        // are more tiles than totals in scratch.
        if (tiles > detail::divide_up(y[0] * y[2] * y[3], total_pixels))
            return detail::refuse_shape(
                type_name<Plan>, "y", "images of a multiple of 64 pixels, for ChannelStatistics of 2^30 pixels or more",
                y);
        std::int64_t group_size = 1;
        auto const states = [&] { return columns * (detail::divide_up(tiles, group_size) + 1); };
        while (group_size * group_size < tiles || states() > most) group_size *= 2;
        params.tile_groups.tiles = static_cast<unsigned>(tiles);
        params.tile_groups.group_size = static_cast<unsigned>(group_size);
        workspace_bytes = static_cast<std::size_t>(states()) * sizeof(GridGroup::State);
    }
    return workspace_bytes;
}

/// Prepares a launch of a plan with a Conv or Gemm on `tiles` x `columns` tiles, one CTA each.
template <class Plan, class Params>
FUSEKIT_H Result<Launch<Params>> prepare_tiles(Gpu const& gpu, Kernel<Params> const& kernel, Params& params,
                                               std::int64_t tiles, std::int64_t columns) {
    auto const workspace_bytes = cut_totals<Plan>(params, tiles, columns);
    if (!workspace_bytes) return workspace_bytes.error();
    return prepare_launch(gpu, kernel, params, tiles * columns, LaunchMode::plain, *workspace_bytes);
}

}  // namespace fusekit::hip
