// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/copy/halo_box.hpp"
#include "fusekit/backend/hip/copy/transposed_filters.hpp"
#include "fusekit/backend/hip/halo_shape.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"

namespace fusekit::hip {

/// Tile of TiledHaloGemm in image n of y: its first row and column, and its numbers of rows and columns in bounds of y.
struct HaloTile {
    int n, row, column, rows, columns;

    /// Tile of whole rows.
    __device__ HaloTile(int image, int first_row, int the_rows, int width)
        : n(image), row(first_row), column(0), rows(the_rows), columns(width) {}
    /// Tile number `tile` of y's extents in `conv`.
    template <class Problem>
    __device__ HaloTile(TiledHalo const& tiles, Problem const& conv, unsigned tile) {
        unsigned const of_pixels = tiles.channel_tiles.divide(tile), image = tiles.of_image.divide(of_pixels),
                       in_image = of_pixels - image * tiles.of_image.value(),
                       row_of_tiles = tiles.of_row.divide(in_image);
        n = static_cast<int>(image);
        row = static_cast<int>(row_of_tiles) * tiles.rows;
        column = static_cast<int>(in_image - row_of_tiles * tiles.of_row.value()) * tiles.columns;
        rows = (min)(conv.extent(conv.y, 2) - row, tiles.rows);
        columns = (min)(conv.extent(conv.y, 3) - column, tiles.columns);
    }
};

/// Issues all TMA loads of CTA number `block`, in one thread: for each output tile, one box per 64 channels of x that
/// the tile's windows read, halo included. The filters, `filter_bytes` bytes per tap and 64 channels of x, are loaded
/// once, before all tiles, or with each box. If `transposed` (a transposed convolution), stores the taps in reverse
/// order.
template <bool transposed, int filter_bytes, class Params, class Problem, class Shared>
__device__ void load_tiled_halos(Params const& params, Problem const& conv, Shared& shared, unsigned block) {
    TiledHalo const& tiles = params.tiled_halo;
    auto const filter = detail::window_filter(conv.filter);
    int const columns = filter.size[1], first = tiles.first_channel(block);
    unsigned const of_tap = loaded_filter_bytes<transposed, filter_bytes>(params.y, conv);
    auto const load_filters = [&](int tap, int channel, unsigned slot, std::uint32_t full) {
        auto const to = ptx::shared_address(shared.filters + slot * filter_bytes);
        int const of_w = transposed ? tiles.taps - 1 - tap : tap;
        if constexpr (pairs_filters<std::remove_reference_t<decltype(*params.y.data)>>)
            ptx::tma_load(to, &params.maps.w, full, {channel, of_w, 0, 0, first / 16});
        else if constexpr (transposed) load_transposed_filters(params.maps, conv, to, full, of_w, first, channel);
        else ptx::tma_load(to, &params.maps.w, full, {channel, of_w % columns, of_w / columns, first});
    };
    if (!tiles.streams_filters()) {
        auto const full = shared.filter_pipeline.producer_expect_tx(0, static_cast<unsigned>(tiles.taps) * of_tap);
#pragma unroll 1
        for (int tap = 0; tap < tiles.taps; ++tap) load_filters(tap, 0, static_cast<unsigned>(tap), full);
    }
    DynamicPipelineState state{tiles.stages};
    typename decltype(shared.filter_pipeline)::State slot;
    for (unsigned tile = block; tile < tiles.all; tile += gridDim.x) {
        HaloTile const of_y(tiles, conv, tile);
        for (int channel = 0; channel < conv.group_c(); channel += TiledHalo::channels) {
            auto const full = shared.pipeline.producer_acquire(state, static_cast<unsigned>(tiles.bytes_of_x));
            ptx::tma_load(shared.halo(tiles, state.stage), &params.maps.x, full,
                          {channel, of_y.column - filter.pad_before[1], of_y.row - filter.pad_before[0], of_y.n});
            state.advance();
            if (!tiles.streams_filters()) continue;
#pragma unroll 1
            for (int tap = 0; tap < tiles.taps; ++tap) {
                load_filters(tap, channel, slot.stage, shared.filter_pipeline.producer_acquire(slot, of_tap));
                slot.advance();
            }
        }
    }
}

}  // namespace fusekit::hip
