// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/plane_tiles.hpp"

namespace fusekit::hip {

/// Part of a tile of y: consecutive rows of image n, from row `row` on (tiles.rows of them, clipped at the image's
/// end); n is -1 for a part past the last image.
struct PlanePart {
    int n, row;
};

/// Numbers the tiles of an NCHW y. A tile is `parts` parts (PlanePart: rows of an image) x `filters` channels; tiles
/// with consecutive indices have the same pixels and different channels. With split-K, the `sharers` CTAs of a tile
/// divide the channel blocks of x (PlaneTiles::channels channels each) among them; their numbers of blocks differ by at
/// most one.
template <class TheTiles, int parts, int filters>
class PlaneGrid {
public:
    using Tiles = TheTiles;

    template <class Problem>
    __device__ PlaneGrid(Problem const& conv, Tiles const& tiles, unsigned rank = 0, unsigned sharers = 1)
        : rows(tiles.rows),
          of_image(static_cast<unsigned>(tiles.of_image)),
          images(tiles.images),
          of_pixels(of_image * static_cast<unsigned>(images)),
          columns(static_cast<unsigned>(detail::divide_up(conv.group_k(), filters))),
          all(static_cast<unsigned>(detail::divide_up(of_pixels, parts)) * columns),
          first_of_channels(first_of(conv, rank, sharers)),
          end_of_channels(first_of(conv, rank + 1, sharers)) {}

    __device__ unsigned size() const { return all; }
    /// Channel blocks of x that this CTA multiplies for each of its tiles: channel_blocks() from first_block() on.
    __device__ int first_block() const { return first_of_channels; }
    __device__ int channel_blocks() const { return end_of_channels - first_of_channels; }
    __device__ int first_channel(unsigned tile) const { return static_cast<int>(tile % columns) * filters; }
    __device__ PlanePart part(unsigned tile, int i) const {
        unsigned const number = tile / columns * parts + static_cast<unsigned>(i);
        if (number >= of_pixels) return {-1, 0};
        return {static_cast<int>(number / of_image), static_cast<int>(number % of_image) * rows};
    }
    /// Returns the part of y after `part` in image and row order. Precondition: `part` is not past the last image.
    __device__ PlanePart after(PlanePart part) const {
        if (part.row + rows < static_cast<int>(of_image) * rows) return {part.n, part.row + rows};
        return {part.n + 1 < images ? part.n + 1 : -1, 0};
    }

    __device__ int count_parts(unsigned tile) const {
        unsigned const remaining = of_pixels - tile / columns * parts;
        return remaining < parts ? static_cast<int>(remaining) : parts;
    }

    /// Position of a CTA in its loop over tiles (`tile`, from gridDim.x to gridDim.x) and, in each tile, over channel
    /// blocks of x (`block`).
    struct Step {
        PlaneGrid const& grid;
        unsigned tile;
        int block;

        __device__ Step(PlaneGrid const& the_grid, unsigned first_tile)
            : grid(the_grid), tile(first_tile), block(the_grid.first_of_channels) {}
        __device__ bool is_valid() const { return tile < grid.all; }
        /// Advances to the next channel block, or to the first one of the CTA's next tile, and then returns true.
        __device__ bool advance() {
            if (++block < grid.end_of_channels) return false;
            block = grid.first_of_channels, tile += gridDim.x;
            return true;
        }
    };

private:
    int rows;
    unsigned of_image;
    int images;
    unsigned of_pixels, columns, all;
    int first_of_channels, end_of_channels;

    template <class Problem>
    __device__ static int first_of(Problem const& conv, unsigned rank, unsigned sharers) {
        auto const blocks = static_cast<unsigned>(detail::divide_up(conv.group_c(), Tiles::channels));
        return static_cast<int>(blocks * rank / sharers);
    }
};

}  // namespace fusekit::hip
