// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/plane_tiles.hpp"

namespace fusekit::hip {

/// A part of y: rows of an image from `row` on; n is -1 out of bounds.
struct PlanePart {
    int n, row;
};

/// Tiles of y in planes: `parts` parts of images x `filters` channels. CTAs with consecutive numbers share pixels. If
/// `sharers` CTAs share a tile, their numbers of channel blocks of x differ by at most one.
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
    /// Range of a tile's channel blocks of x that this CTA multiplies.
    __device__ int first_block() const { return first_of_channels; }
    __device__ int end_block() const { return end_of_channels; }
    __device__ int channel_blocks() const { return end_of_channels - first_of_channels; }
    __device__ int first_channel(unsigned tile) const { return static_cast<int>(tile % columns) * filters; }
    __device__ PlanePart part(unsigned tile, int i) const {
        unsigned const number = tile / columns * parts + static_cast<unsigned>(i);
        if (number >= of_pixels) return {-1, 0};
        return {static_cast<int>(number / of_image), static_cast<int>(number % of_image) * rows};
    }
    /// Returns the part after an in-bounds part.
    __device__ PlanePart after(PlanePart part) const {
        if (part.row + rows < static_cast<int>(of_image) * rows) return {part.n, part.row + rows};
        return {part.n + 1 < images ? part.n + 1 : -1, 0};
    }

    __device__ int count_parts(unsigned tile) const {
        unsigned const left = of_pixels - tile / columns * parts;
        return left < parts ? static_cast<int>(left) : parts;
    }

    /// Position in a CTA's sequence of tiles and, within a tile, channel blocks of x.
    struct Step {
        PlaneGrid const& grid;
        unsigned tile;
        int block;

        __device__ Step(PlaneGrid const& the_grid, unsigned first_tile)
            : grid(the_grid), tile(first_tile), block(the_grid.first_of_channels) {}
        __device__ bool exists() const { return tile < grid.all; }
        /// Advances by one block; returns true if another tile begins.
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
