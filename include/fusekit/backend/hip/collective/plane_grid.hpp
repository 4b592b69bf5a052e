// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/collective/plane_tiles.hpp"

namespace fusekit::hip {

/// A part of y: from a row of an image on; n is -1 where there is none.
struct PlanePart {
    int n, row;
};

/// The tiles of y, in planes: `parts` parts of images, of `filters` channels each. Blocks whose numbers neighbour share
/// pixels.
template <class TheTiles, int parts, int filters>
class PlaneGrid {
public:
    using Tiles = TheTiles;

    template <class Problem>
    __device__ PlaneGrid(Problem const& conv, Tiles const& tiles)
        : rows(tiles.rows),
          of_image(static_cast<unsigned>(tiles.of_image)),
          images(tiles.images),
          of_pixels(of_image * static_cast<unsigned>(images)),
          columns(static_cast<unsigned>(detail::divide_up(conv.group_k(), filters))),
          all(static_cast<unsigned>(detail::divide_up(of_pixels, parts)) * columns),
          blocks_of_channels(static_cast<int>(detail::divide_up(conv.group_c(), Tiles::channels))) {}

    __device__ unsigned size() const { return all; }
    /// Of x, those of a tile.
    __device__ int channel_blocks() const { return blocks_of_channels; }
    __device__ int first_channel(unsigned tile) const { return static_cast<int>(tile % columns) * filters; }
    __device__ PlanePart part(unsigned tile, int i) const {
        unsigned const number = tile / columns * parts + static_cast<unsigned>(i);
        if (number >= of_pixels) return {-1, 0};
        return {static_cast<int>(number / of_image), static_cast<int>(number % of_image) * rows};
    }
    /// The part after one that exists.
    __device__ PlanePart after(PlanePart part) const {
        if (part.row + rows < static_cast<int>(of_image) * rows) return {part.n, part.row + rows};
        return {part.n + 1 < images ? part.n + 1 : -1, 0};
    }

    __device__ int count_parts(unsigned tile) const {
        unsigned const left = of_pixels - tile / columns * parts;
        return left < parts ? static_cast<int>(left) : parts;
    }

    /// A place in the order in which a block takes its tiles and, of each, blocks of channels of x.
    struct Step {
        PlaneGrid const& grid;
        unsigned tile;
        int block = 0;

        __device__ Step(PlaneGrid const& the_grid, unsigned first_tile) : grid(the_grid), tile(first_tile) {}
        __device__ bool exists() const { return tile < grid.all; }
        /// Whether that is another tile.
        __device__ bool advance() {
            if (++block < grid.blocks_of_channels) return false;
            block = 0, tile += gridDim.x;
            return true;
        }
    };

private:
    int rows;
    unsigned of_image;
    int images;
    unsigned of_pixels, columns, all;
    int blocks_of_channels;
};

}  // namespace fusekit::hip
