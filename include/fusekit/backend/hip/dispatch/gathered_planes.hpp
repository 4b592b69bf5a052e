// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/dispatch/split.hpp"
#include "fusekit/backend/hip/mainloop/gathered_planes.hpp"
#include "fusekit/backend/hip/schedule/gathered_planes.hpp"
#include "fusekit/backend/hip/tuning/select.hpp"

namespace fusekit::hip::detail {

/// True if filters are in KCRS order, with dense taps and channels, and each starts at a multiple of 16 bytes.
FUSEKIT_H inline bool has_dense_filters(Layout<4> const& w, void const* data, int element_bytes) {
    Index<4> const &shape = w.shape, &stride = w.stride;
    return (shape[3] == 1 || stride[3] == 1) && (shape[2] == 1 || stride[2] == shape[3]) &&
           (shape[1] == 1 || stride[1] == shape[2] * shape[3]) &&
           (shape[0] == 1 || (stride[0] > 0 && stride[0] * element_bytes % 16 == 0)) && problem::aligned(data, 16);
}

/// Returns the launch of a GatheredPlanes kernel. With split-K, a tile has at most one CTA per stage. Empty, with
/// `unmet` as the first unmet condition, if the program, the GPU or an operand's layout does not support it.
template <class Plan, Element T>
[[gnu::cold]] FUSEKIT_H Maybe<Launch<ConvParams<Plan, T, T>>> launch_gathered_planes(
    Gpu const& gpu, Kernel<ConvParams<Plan, T, T>> const& kernel, ConvOperands<Plan, T, T> const& operands, int split_k,
    Unmet& unmet) {
    ConvParams<Plan, T, T> params{operands.bound, operands.x, operands.y};
    GatherTiles& tiles = params.gather;
    // the tiles of the estimate that chose the schedule
    int const processors = with_tuning(gpu.architecture(), [&]<class Tuning>(Tuning) {
        return processors_of_clusters(split_k, gpu.processors(), Tuning::costs.idle);
    });
    tiles =
        gather_tiles(params.x.layout.shape, params.y.layout.shape, window_filter(operands.filter), processors, split_k);
    auto const w = typed<T>(Plan::Head::filters(params.bound.head));
    unmet = first_unmet(unmet_by_code(gpu, kernel),
                        holds(split_k <= 1 || launches_clusters(gpu), "this program has code for GPUs without clusters",
                              "compile for sm_90a alone"),
                        GatheredPlanesEntry::unmet_by_tiles(tiles),
                        holds(has_dense_filters(w.layout, w.data, sizeof(T)),
                              "weights are not dense, in KCRS order, at multiples of 16 bytes", "use MatrixGemm"));
    if (unmet) return {};
    params.channels_fastest = false;
    if constexpr (can_split<Plan, T>) {
        int const blocks = tiles.channel_blocks(static_cast<int>(params.x.layout.shape[1]));
        params.split_k.count = static_cast<unsigned>(split_k < blocks ? split_k : blocks);
        if (params.split_k.count > 1)
            return *prepare_launch(gpu, kernel, params, std::int64_t{tiles.tiles} * params.split_k.count,
                                   LaunchMode::clusters, 0, params.split_k.count);
    }
    std::int64_t const most = gpu.processors();
    return *prepare_launch(gpu, kernel, params, tiles.tiles < most ? tiles.tiles : most);
}

template <>
struct Launcher<GatheredPlanesEntry> {
    template <class Given, class Plan, Element T>
    [[gnu::cold]] FUSEKIT_H static Maybe<Launch<ConvParams<Plan, T, T>>> launch(
        Gpu const& gpu, ConvOperands<Plan, T, T> const& operands, int split_k, Unmet& unmet) {
        auto const kernel = kernel_of<Plan, GatheredPlanesGemm<Plan, WholeSchedule<Given>, T>>();
        return launch_gathered_planes(gpu, kernel, operands, split_k, unmet);
    }
};

}  // namespace fusekit::hip::detail
