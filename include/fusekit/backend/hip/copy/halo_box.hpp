// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/copy/halo_groups.hpp"
#include "fusekit/backend/hip/copy/transposed_filters.hpp"
#include "fusekit/backend/hip/halo_shape.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"

namespace fusekit::hip {

/// Enumeration of the output tiles of HaloGemm: a tile is `shape.rows` whole rows of one image of y. The tiles of x
/// that they read, halo included, are loaded through a ring of `stages` SMEM stages.
template <class Shape, bool pools = false>
struct HaloTiles {
    Shape shape;
    unsigned of_image, all;
    int stages;

    template <class Problem>
    __device__ HaloTiles(Problem const& conv, int halo_bytes, int max_stages)
        : shape(conv.extent(conv.y, 2), conv.extent(conv.y, 3), detail::window_filter(conv.filter),
                conv.extent(conv.y, 3), pools),
          of_image(static_cast<unsigned>(divide_up_32(conv.extent(conv.y, 2), shape.rows))),
          all(of_image * static_cast<unsigned>(conv.extent(conv.y, 0))),
          stages(shape.stages(halo_bytes, max_stages)) {}

    __device__ int image(unsigned tile) const { return static_cast<int>(tile / of_image); }
    __device__ int first_row(unsigned tile) const { return static_cast<int>(tile % of_image) * shape.rows; }
    /// Shared-memory address of the tile of x, halo included, in the stage at `state`.
    template <class Shared>
    __device__ std::uint32_t halo(Shared& shared, DynamicPipelineState const& state) const {
        return ptx::shared_address(shared.halos) + static_cast<unsigned>(state.stage * shape.stage_bytes());
    }
};

/// Bytes that TMA loads of the `filter_bytes` bytes of a tap's 64 filters: a box of the filters of at most 64 channels
/// of x, of one group and not in pairs, has y's channels if these are fewer (encode_rows()). The other rows then have
/// any values.
template <bool transposed, int filter_bytes, class U, class Problem>
__device__ unsigned loaded_filter_bytes(TensorView<U> const&, Problem const& conv) {
    constexpr int filters = 64;
    if constexpr (transposed || pairs_filters<U>) return filter_bytes;
    else if (conv.groups() > 1 || conv.group_c() > filters) return filter_bytes;
    else return static_cast<unsigned>((min)(conv.group_k(), filters) * (filter_bytes / filters));
}

/// Issues all TMA loads of a CTA, in one thread: the filters of all taps, `filter_bytes` bytes each, then for each
/// output tile one box of the rows of x that the tile's windows read, halo included. If `transposed` (a transposed
/// convolution), stores the taps in reverse order. If maps.filter_vector is not 0, threads load the filters of a group.
template <bool transposed, int filter_bytes, class Params, class Problem, class Shared, class Tiles, bool grouped>
__device__ void load_halos(Params const& params, Problem const& conv, Shared& shared, Tiles const& tiles,
                           HaloGroup<grouped> const& group) {
    auto const filter = detail::window_filter(conv.filter);
    int const columns = filter.size[1], taps = filter.size[0] * columns;
    if (!group.exists() || params.maps.filter_vector == 0) {
        int first = 0;
        if constexpr (grouped) first = group.number * conv.group_k();
        auto const filters_full = shared.filters_full.producer_expect_tx(
            0, static_cast<unsigned>(taps) * loaded_filter_bytes<transposed, filter_bytes>(params.y, conv));
#pragma unroll 1
        for (int tap = 0; tap < taps; ++tap) {
            auto const to = ptx::shared_address(shared.filters + tap * filter_bytes);
            int const of_w = transposed ? taps - 1 - tap : tap;
            if constexpr (pairs_filters<std::remove_reference_t<decltype(*params.y.data)>>)
                ptx::tma_load(to, &params.maps.w, filters_full, {0, of_w, 0, 0, 0});
            else if constexpr (transposed) load_transposed_filters(params.maps, conv, to, filters_full, of_w, 0, 0);
            else ptx::tma_load(to, &params.maps.w, filters_full, {0, of_w % columns, of_w / columns, first});
        }
    }
    DynamicPipelineState state{tiles.stages};
    for (unsigned tile = group.block; tile < tiles.all; tile += group.step) {
        auto const full = shared.pipeline.producer_acquire(state, static_cast<unsigned>(tiles.shape.bytes_of_x()));
        auto const to = tiles.halo(shared, state);
        int const q = -filter.pad_before[1], p = tiles.first_row(tile) - filter.pad_before[0], n = tiles.image(tile);
        if constexpr (grouped) {
            if (group.exists()) ptx::tma_load(to, &params.maps.x, full, {group.at_c[0], q, p, n, group.at_c[1]});
            else ptx::tma_load(to, &params.maps.x, full, {0, q, p, n});
        } else {
            ptx::tma_load(to, &params.maps.x, full, {0, q, p, n});
        }
        state.advance();
    }
}

}  // namespace fusekit::hip
