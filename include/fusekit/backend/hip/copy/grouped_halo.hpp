// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/async_copy.hpp"
#include "fusekit/backend/hip/grouped_tiles.hpp"
#include "fusekit/config.hpp"
#include "fusekit/tensor/dtype.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::hip {

/// The tile of a CTA of a Grouped kernel: pixels of y from (n, p, q) and filters from k on, and the first block of 8
/// channels of x that they read.
struct GroupedCoord {
    int n, k, p, q, channel_block;

    __device__ GroupedCoord(GroupedTiles const& tiles, unsigned block) {
        unsigned const a = tiles.filter_blocks.divide(block), b = tiles.tiles_across.divide(a),
                       image = tiles.tiles_down.divide(b);
        n = static_cast<int>(image) * tiles.tile.images;
        k = static_cast<int>(block - a * tiles.filter_blocks.value()) * tiles.tile.units * GroupedTile::unit;
        q = static_cast<int>(a - b * tiles.tiles_across.value()) * tiles.tile.columns;
        p = static_cast<int>(b - image * tiles.tiles_down.value()) * tiles.tile.rows;
        channel_block = block_of(tiles, k);
    }

    /// First block of 8 channels of x, of all, that filter `filter` reads.
    __device__ static int block_of(GroupedTiles const& tiles, int filter) {
        return static_cast<int>(tiles.group_filters.divide(static_cast<unsigned>(filter))) * tiles.group_channels / 8;
    }
    /// First block of channels, counted from the CTA's first one, that N-block `number` of the CTA reads.
    __device__ int first_block(GroupedTiles const& tiles, int number) const {
        int const first = block_of(tiles, k + 8 * number) - channel_block,
                  most = tiles.tile.halo_blocks - tiles.tile.channel_blocks;
        return first < most ? first : most;
    }
};

/// A row of strips of a CTA's tile: the image of the tile and the strip of its rows.
struct GroupedStrip {
    int image, strip;

    __device__ GroupedStrip(GroupedTiles const& tiles, unsigned number)
        : image(static_cast<int>(tiles.strips.divide(number))),
          strip(static_cast<int>(number) - image * static_cast<int>(tiles.strips.value())) {}
};

/// Loads of a Grouped CTA of `threads` threads to SMEM.
template <Element T, int threads>
struct GroupedLoad {
    /// Copies the halo asynchronously, in vectors of 8 channels: [image][row][column][channel], pixels `pitch`
    /// bytes apart. Padding, channels from C on and images from N on are zeros.
    template <class Conv>
    __device__ static void copy_halo(GroupedTiles const& tiles, GroupedCoord const& at, TensorView<T const> const& x,
                                     Conv const& conv, unsigned char* halo, unsigned thread) {
        GroupedTile const& tile = tiles.tile;
        Layout<4> const& layout = x.layout;
        int const top = at.p * conv.filter.strides[0] - conv.filter.pad_before[0],
                  left = at.q * conv.filter.strides[1] - conv.filter.pad_before[1],
                  images = static_cast<int>(layout.shape[0]), height = static_cast<int>(layout.shape[2]),
                  width = static_cast<int>(layout.shape[3]), all_blocks = static_cast<int>(layout.shape[1] / 8);
        unsigned const count =
            static_cast<unsigned>(tile.images * tile.halo_rows * tile.halo_columns * tile.halo_blocks);
#pragma unroll 4
        for (unsigned i = thread; i < count; i += threads) {
            unsigned const pixel = tiles.halo_blocks.divide(i), row = tiles.halo_columns.divide(pixel),
                           image = tiles.halo_rows.divide(row);
            int const block = static_cast<int>(i - pixel * tiles.halo_blocks.value()),
                      column = static_cast<int>(pixel - row * tiles.halo_columns.value()),
                      h = top + static_cast<int>(row - image * tiles.halo_rows.value()), w = left + column;
            bool const valid = static_cast<unsigned>(h) < static_cast<unsigned>(height) &&
                               static_cast<unsigned>(w) < static_cast<unsigned>(width) &&
                               at.channel_block + block < all_blocks && at.n + static_cast<int>(image) < images;
            T const* const from = x.data + (at.n + static_cast<int>(image)) * layout.stride[0] + h * layout.stride[2] +
                                  w * layout.stride[3] + (at.channel_block + block) * 8;
            copy_async<16>(halo + pixel * static_cast<unsigned>(tile.pitch) + 16 * block, valid ? from : x.data, valid);
        }
    }

    /// Offsets, in bytes from a window's first element in the halo, of each pair of tap and channel block.
    template <class Conv>
    __device__ static void fill_offsets(GroupedTiles const& tiles, Conv const& conv, int* offsets, unsigned thread) {
        GroupedTile const& tile = tiles.tile;
        for (int i = static_cast<int>(thread); i < tile.pairs; i += threads) {
            unsigned const tap = tiles.channel_blocks.divide(static_cast<unsigned>(i)),
                           r = tiles.filter_columns.divide(tap), s = tap - r * tiles.filter_columns.value();
            int const row = static_cast<int>(r) * conv.filter.dilations[0],
                      column = static_cast<int>(s) * conv.filter.dilations[1],
                      block = i - static_cast<int>(tap) * tile.channel_blocks;
            offsets[i] = (row * tile.halo_columns + column) * tile.pitch + 16 * block;
        }
    }

    /// Stores the filters as fragments of B: [N-block][step][lane][half], a word of the weights of channels 2 (lane %
    /// 4) and following of filter lane / 4, of pair 2 step + half. Weights of other groups' channels, filters from K on
    /// and the pair past the last one are zeros.
    template <class Conv>
    __device__ static void store_filters(GroupedTiles const& tiles, GroupedCoord const& at, Conv const& conv,
                                         std::uint32_t* filters, unsigned thread) {
        GroupedTile const& tile = tiles.tile;
        Layout<4> const& w = conv.w.layout;
        unsigned const count = static_cast<unsigned>(4 * tile.units * tile.steps * 64);
#pragma unroll 4
        for (unsigned i = thread; i < count; i += threads) {
            unsigned const lane = i / 2 % 32, row = i / 64, number = tiles.steps.divide(row),
                           pair = (row - number * tiles.steps.value()) * 2 + i % 2,
                           tap = tiles.channel_blocks.divide(pair), r = tiles.filter_columns.divide(tap),
                           s = tap - r * tiles.filter_columns.value();
            int const block = static_cast<int>(pair - tap * tiles.channel_blocks.value()),
                      filter = at.k + static_cast<int>(8 * number + lane / 4),
                      channel = (at.channel_block + at.first_block(tiles, static_cast<int>(number)) + block) * 8 +
                                static_cast<int>(lane % 4) * 2,
                      c = channel - static_cast<int>(tiles.group_filters.divide(static_cast<unsigned>(filter))) *
                                        tiles.group_channels;
            bool const valid = filter < static_cast<int>(w.shape[0]) && static_cast<int>(pair) < tile.pairs &&
                               static_cast<unsigned>(c) < static_cast<unsigned>(tiles.group_channels);
            T const* const from = conv.w.data + filter * w.stride[0] + c * w.stride[1] +
                                  static_cast<int>(r) * w.stride[2] + static_cast<int>(s) * w.stride[3];
            std::uint32_t word = 0;
            if (tiles.paired_weights) {
                word = load_if(valid, reinterpret_cast<std::uint32_t const*>(from));
            } else {
                Packet<T, 2> pair_of_weights;
                pair_of_weights.values[0] = load_if(valid, from);
                pair_of_weights.values[1] = load_if(valid, from + w.stride[1]);
                word = config::bit_cast<std::uint32_t>(pair_of_weights);
            }
            filters[i] = word;
        }
    }
};

}  // namespace fusekit::hip
