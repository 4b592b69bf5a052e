// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/bulk_maps.hpp"
#include "fusekit/backend/hip/dispatch/launcher.hpp"
#include "fusekit/backend/hip/dispatch/split.hpp"
#include "fusekit/backend/hip/dispatch/split_pixels.hpp"
#include "fusekit/backend/hip/mainloop/stem_weight_gradient.hpp"

namespace fusekit::hip::detail {

/// Returns the launch of a weight gradient by StemWeightGradient; empty if a window has too many columns, if pixels of
/// a row of x are not dense, if TMA cannot load dy's layout, or if the program or the GPU lacks the kernel.
template <class Plan, Element T, OutputElement U>
FUSEKIT_H Maybe<Launch<WeightGradientParams<Plan, T, U>>> prepare_stem_gradient(Gpu const& gpu,
                                                                                WeightGradientParams<Plan, T, U> params,
                                                                                std::size_t workspace_bytes) {
    using Mainloop = StemWeightGradient<Plan, T, U>;
    constexpr std::int64_t most_columns = 2 * Mainloop::tile_rows;
    if (!is_sm90a(gpu)) return {};
    auto const kernel = kernel_of<Plan, Mainloop>();
    Filter<2> const filter = Plan::Head::geometry(params.bound.head);
    TensorView<T const> const dy = typed<T>(params.bound.head.dy);
    Layout<4> const& x = params.x.layout;
    bool const dense = (x.shape[1] == 1 || x.stride[1] == 1) && (x.shape[3] == 1 || x.stride[3] == x.shape[1]) &&
                       x.stride[2] >= 0 && x.stride[0] >= 0 && problem::aligned(params.x.data, 16);
    std::int64_t const elements =
        (x.shape[0] - 1) * x.stride[0] + (x.shape[2] - 1) * x.stride[2] + x.shape[3] * x.shape[1];
    auto const is_aligned = [&](int mode) {
        return x.shape[mode] == 1 || x.stride[mode] * std::int64_t{sizeof(T)} % 16 == 0;
    };
    bool const single_rows = x.shape[1] * x.shape[3] % 2 != 0 || !is_aligned(2) || !is_aligned(0);
    StemGradientShape const shape(filter, x.shape[1], dy.layout.shape[3], single_rows);
    std::int64_t const images = dy.layout.shape[0], steps = images * dy.layout.shape[2] * shape.across;
    if (filter.group_count != 1 || filter.dilations != PerMode<2>{1, 1} || !dense || shape.pixels == 0 ||
        params.columns() > most_columns || steps >= std::int64_t{1} << 30 || elements >= std::int64_t{1} << 31 ||
        unmet_by_tma(dy.layout, dy.data, sizeof(T)) || !kernel.is_launchable(gpu.index()))
        return {};
    StemGradientTiles& tiles = params.stem;
    static_cast<StemGradientShape&>(tiles) = shape;
    auto const divisor = [](std::int64_t value) { return FastDivmod(static_cast<std::uint32_t>(value)); };
    tiles.by_across = divisor(shape.across), tiles.by_rows = divisor(dy.layout.shape[2]);
    tiles.by_line = divisor(filter.size[1] * x.shape[1]);
    Unmet unmet;
    bool const encoded = encode_maps(gpu, unmet, [&] {
        auto const bytes = [&](int mode) {
            return static_cast<std::uint64_t>(
                single_rows || x.shape[mode] == 1 ? 16 : x.stride[mode] * std::int64_t{sizeof(T)});
        };
        // the 32-bit word of the last element may have two bytes past x
        std::uint64_t const all = static_cast<std::uint64_t>((elements + 1) / 2),
                            extents[] = {single_rows ? all : static_cast<std::uint64_t>(x.shape[1] * x.shape[3] / 2),
                                         single_rows ? 1 : static_cast<std::uint64_t>(x.shape[2]),
                                         single_rows ? 1 : static_cast<std::uint64_t>(x.shape[0]), 1},
                            strides[] = {bytes(2), bytes(0), 16};
        std::uint32_t const box[] = {static_cast<std::uint32_t>(shape.words),
                                     single_rows ? 1 : static_cast<std::uint32_t>(filter.size[0]), 1, 1},
                            of_dy[] = {Mainloop::tile_filters, static_cast<std::uint32_t>(shape.pixels), 1, 1};
        MapModes<T const> const modes(dy);
        return encode_tiled(tiles.x, 4, 4, params.x.data, extents, strides, box, false) &&
               encode_tiled(tiles.dy, sizeof(T), 4, dy.data, modes.extents, modes.strides, of_dy);
    });
    if (!encoded) return {};
    tiles.in_use = true;
    std::int64_t const tiles_of_dw = divide_up(params.columns(), Mainloop::tile_rows) *
                                     divide_up(dy.layout.shape[1], Mainloop::tile_filters),
                       split_bytes = Mainloop::Accumulators::floats * std::int64_t{sizeof(float)};
    constexpr std::int64_t min_steps = 8;  // of a CTA; with fewer, the reduction takes longer
    SplitKGroups& split_k = params.split_k = choose_split_k(launches_clusters(gpu), tiles_of_dw, 1, gpu.processors(),
                                                            divide_up(steps, min_steps), split_bytes, workspace_bytes);
    // all CTAs of a tile are resident, if they can be: a second round would take as long as the first
    if (auto const most = resident_clusters(gpu.processors(), 1, split_k.cluster) / tiles_of_dw;
        most > 0 && split_k.groups > most)
        split_k.groups = static_cast<unsigned>(most);
    tiles.steps = static_cast<int>(steps);
    tiles.split_steps = static_cast<int>(divide_up(steps, split_k.count()));
    auto const launch = prepare_launch(
        gpu, kernel, params, tiles_of_dw * split_k.count(),
        split_k.cluster > 1 ? LaunchMode::clusters : LaunchMode::plain,
        split_k.groups > 1
            ? GroupWorkspace::state_bytes + static_cast<std::size_t>(tiles_of_dw * split_k.groups * split_bytes)
            : 0,
        split_k.cluster);
    if (!launch) return {};
    return *launch;
}

}  // namespace fusekit::hip::detail
