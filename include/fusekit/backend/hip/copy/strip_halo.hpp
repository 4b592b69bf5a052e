// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/sm90a.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/params.hpp"
#include "fusekit/backend/hip/pipeline/tma_pipeline.hpp"
#include "fusekit/backend/hip/strip_halo_tiles.hpp"

namespace fusekit::hip {

/// Row of an image, by its number among the rows of all images: R - 1 rows are between the last row of y of an image
/// and the first of the next, so that the windows of a tile with rows of two images read a tile of x without gaps.
struct StripRow {
    int image, row;

    __device__ StripRow(HaloStrips const& strips, unsigned number) {
        unsigned const of = strips.rows_of_image.divide(number);
        image = static_cast<int>(of), row = static_cast<int>(number - of * strips.rows_of_image.value());
    }
    __device__ void advance(HaloStrips const& strips) {
        if (++row == static_cast<int>(strips.rows_of_image.value())) row = 0, ++image;
    }
};

/// First row (StripRow), column and channel of y of a tile of StripHaloGemm; its phase's row and column, 0 or 1.
struct StripTile {
    unsigned row;
    int column, channel, phase_row = 0, phase_column = 0;

    __device__ StripTile(HaloStrips const& strips, unsigned tile) {
        unsigned of_pixels = strips.channel_tiles.divide(tile);
        channel = static_cast<int>(tile - of_pixels * strips.channel_tiles.value()) * strips.shape.tile_filters();
        if (strips.shape.phases > 1) {
            phase_row = static_cast<int>(of_pixels / 2 % 2), phase_column = static_cast<int>(of_pixels % 2);
            of_pixels /= 4;
        }
        unsigned const of_rows = strips.of_row.divide(of_pixels);
        column = static_cast<int>(of_pixels - of_rows * strips.of_row.value()) * strips.shape.tile_columns();
        row = of_rows * HaloStripShape::rows;
    }
};

/// Issues the TMA loads of a tile's 64 channels of x from `channel` on to the stage at `state`, in one thread: one box
/// per row, because a tile may have rows of two images. On an H200 one box for the whole tile takes as long.
template <class Params, class Shared, class State>
__device__ void load_halo_strip(Params const& params, Shared& shared, StripTile const& of_y, int channel,
                                State const& state) {
    HaloStrips const& strips = params.halo_strips;
    auto const step = static_cast<std::uint32_t>(strips.pitch * HaloStripShape::row_bytes);
    int const column = of_y.column - strips.left;
    auto const full = shared.x_pipeline.producer_acquire(state, static_cast<unsigned>(strips.shape.bytes_of_x()));
    std::uint32_t to = shared.x(strips, state.stage);
    StripRow row(strips, of_y.row);
#pragma unroll 1
    for (int i = 0; i < strips.rows_of_x; ++i, row.advance(strips), to += step)
        ptx::tma_load(to, &params.maps.x, full, {channel, column, row.row - strips.top, row.image});
}

/// Issues all TMA loads of x of CTA number `block`, in one thread.
template <class Params, class Problem, class Shared>
__device__ void load_halo_strips(Params const& params, Problem const& conv, Shared& shared, unsigned block) {
    typename decltype(shared.x_pipeline)::State state;
    for (unsigned tile = block; tile < params.halo_strips.tiles; tile += gridDim.x) {
        StripTile const of_y(params.halo_strips, tile);
        for (int channel = 0; channel < conv.group_c(); channel += HaloStripShape::channels, state.advance())
            load_halo_strip(params, shared, of_y, channel, state);
    }
}

/// Issues the TMA loads of the filters of CTA number `block`, in one thread: for each tile, each 64 channels of x and
/// each tap. If `transposed` (a transposed convolution), filters are MN-major, in boxes of 64, and the taps in reverse
/// order.
template <bool transposed, class Params, class Problem, class Shared>
__device__ void load_strip_filters(Params const& params, Problem const& conv, Shared& shared, unsigned block) {
    HaloStrips const& strips = params.halo_strips;
    int const columns = strips.shape.window_columns, last = strips.taps - 1, of_tile = strips.shape.tile_filters(),
              filters = transposed ? of_tile : (min)(conv.group_k(), of_tile);
    auto const bytes = static_cast<unsigned>(filters * HaloStripShape::row_bytes);
    DynamicPipelineState state{strips.stages};
    for (unsigned tile = block; tile < strips.tiles; tile += gridDim.x) {
        StripTile const of_y(strips, tile);
        int const first = of_y.channel;
        for (int channel = 0; channel < conv.group_c(); channel += HaloStripShape::channels) {
#pragma unroll 1
            for (int tap = 0; tap < strips.taps; ++tap, state.advance()) {
                auto const full = shared.filter_pipeline.producer_acquire(state, bytes);
                auto const to = shared.filters(strips, state.stage);
                if constexpr (transposed) {
                    // of a phase's row a, tap row r of 2 is the filter's row 3 - 2 r - a: the row of y is 2 i + r - 1
                    bool const doubles = strips.shape.phases > 1;
                    int const tap_row = doubles ? 3 - tap / 2 * 2 - of_y.phase_row : (last - tap) / columns,
                              tap_column = doubles ? 3 - tap % 2 * 2 - of_y.phase_column : (last - tap) % columns;
                    for (int n = 0; n < filters; n += 64)
                        ptx::tma_load(to + static_cast<std::uint32_t>(n * HaloStripShape::row_bytes), &params.maps.w,
                                      full, {first + n, tap_column, tap_row, channel});
                } else {
                    ptx::tma_load(to, &params.maps.w, full, {channel, tap % columns, tap / columns, first});
                }
            }
        }
    }
}

}  // namespace fusekit::hip
