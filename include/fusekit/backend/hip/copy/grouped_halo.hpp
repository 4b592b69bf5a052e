// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/async_copy.hpp"
#include "fusekit/backend/hip/grouped_tiles.hpp"
#include "fusekit/config.hpp"
#include "fusekit/tensor/dtype.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::hip {

/// Start of a Grouped CTA's tile: its first pixel of y (n, p, q), its first filter k, and the first block of 8 channels
/// of x that its filters read.
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

    /// Index, among all of x, of the first block of 8 channels that filter `filter` reads.
    __device__ static int block_of(GroupedTiles const& tiles, int filter) {
        return static_cast<int>(tiles.group_filters.divide(static_cast<unsigned>(filter))) * tiles.group_channels / 8;
    }
    /// Index, counted from channel_block, of the first block of 8 channels that N-block `number` (8 filters) of the CTA
    /// reads; clamped so that all of the N-block's blocks are in the halo.
    __device__ int first_block(GroupedTiles const& tiles, int number) const {
        int const first = block_of(tiles, k + 8 * number) - channel_block,
                  most = tiles.tile.halo_blocks - tiles.tile.channel_blocks;
        return first < most ? first : most;
    }
};

/// Coordinate of strip number `number` of a CTA's tile: image in the tile, and strip (GroupedTile::strip rows of y) in
/// the image.
struct GroupedStrip {
    int image, strip;

    __device__ GroupedStrip(GroupedTiles const& tiles, unsigned number)
        : image(static_cast<int>(tiles.strips.divide(number))),
          strip(static_cast<int>(number) - image * static_cast<int>(tiles.strips.value())) {}
};

/// Loads from global memory to SMEM by a Grouped CTA of `threads` threads.
template <Element T, int threads>
struct GroupedLoad {
    /// Issues the asynchronous copies (cp.async) of the halo: SMEM layout [image][row][column][channel] with `pitch`
    /// bytes per pixel, in vectors of 8 channels. Zero-fills padding, channels past C and images past N. Tiles:
    /// GroupedTiles or a GroupedBox.
    template <class Tiles, class Coord>
    __device__ static void copy_halo(Tiles const& tiles, Coord const& at, TensorView<T const> const& x,
                                     Filter<2> const& window, unsigned char* halo, unsigned thread) {
        auto const& tile = tiles.tile;
        Layout<4> const& layout = x.layout;
        int const top = at.p * window.strides[0] - window.pad_before[0],
                  left = at.q * window.strides[1] - window.pad_before[1], images = static_cast<int>(layout.shape[0]),
                  height = static_cast<int>(layout.shape[2]), width = static_cast<int>(layout.shape[3]),
                  all_blocks = static_cast<int>(layout.shape[1] / 8), rows = tile.images * tile.halo_rows,
                  step = tiles.row_step;
        std::int64_t const row_step = step * layout.stride[2],
                           image_step = layout.stride[0] - tile.halo_rows * layout.stride[2];
        unsigned const vectors = tiles.row_vectors.value(), first = tiles.row_vectors.divide(thread);
        if (static_cast<int>(first) >= step) return;
        for (unsigned i = thread - first * vectors; i < vectors; i += threads) {
            unsigned const column = tiles.halo_blocks.divide(i);
            int const block = static_cast<int>(i - column * tiles.halo_blocks.value()),
                      w = left + static_cast<int>(column);
            bool const is_column =
                static_cast<unsigned>(w) < static_cast<unsigned>(width) && at.channel_block + block < all_blocks;
            int h = top + static_cast<int>(first), image = at.n;
            T const* from = x.data + image * layout.stride[0] + h * layout.stride[2] + w * layout.stride[3] +
                            (at.channel_block + block) * 8;
            unsigned char* to = halo +
                                (static_cast<int>(first) * tile.halo_columns + static_cast<int>(column)) * tile.pitch +
                                16 * block;
            for (int row = static_cast<int>(first); row < rows; row += step) {
                if (tile.images > 1)
                    for (; h - top >= tile.halo_rows; h -= tile.halo_rows, ++image) from += image_step;
                bool const valid =
                    is_column && static_cast<unsigned>(h) < static_cast<unsigned>(height) && image < images;
                copy_async<16>(to, valid ? from : x.data, valid);
                h += step, from += row_step, to += step * tile.halo_columns * tile.pitch;
            }
        }
    }

    /// Copies the halo like copy_halo() from an x whose channels are not contiguous: consecutive threads load
    /// consecutive columns of 8 channels.
    __device__ static void copy_planes(GroupedTiles const& tiles, GroupedCoord const& at, TensorView<T const> const& x,
                                       Filter<2> const& window, unsigned char* halo, unsigned thread) {
        GroupedTile const& tile = tiles.tile;
        Layout<4> const& layout = x.layout;
        int const top = at.p * window.strides[0] - window.pad_before[0],
                  left = at.q * window.strides[1] - window.pad_before[1];
        unsigned const vectors = tiles.row_vectors.value(),
                       all = vectors * static_cast<unsigned>(tile.images * tile.halo_rows);
#pragma unroll 1
        for (unsigned i = thread; i < all; i += threads) {
            unsigned const row_of_tile = tiles.row_vectors.divide(i), of_row = i - row_of_tile * vectors,
                           block = tiles.halo_columns.divide(of_row),
                           column = of_row - block * tiles.halo_columns.value();
            int row = static_cast<int>(row_of_tile), n = at.n;
            for (; row >= tile.halo_rows; row -= tile.halo_rows) ++n;
            int const h = top + row, w = left + static_cast<int>(column),
                      c = (at.channel_block + static_cast<int>(block)) * 8;
            bool const valid = static_cast<unsigned>(h) < static_cast<unsigned>(layout.shape[2]) &&
                               static_cast<unsigned>(w) < static_cast<unsigned>(layout.shape[3]) &&
                               n < static_cast<int>(layout.shape[0]) && c < static_cast<int>(layout.shape[1]);
            T const* const from =
                x.data + n * layout.stride[0] + c * layout.stride[1] + h * layout.stride[2] + w * layout.stride[3];
            Packet<T, 8> pixel;
#pragma unroll
            for (int e = 0; e < 8; ++e) pixel.values[e] = load_if(valid, from + e * layout.stride[1]);
            *reinterpret_cast<Packet<T, 8>*>(
                halo + (static_cast<int>(row_of_tile) * tile.halo_columns + static_cast<int>(column)) * tile.pitch +
                16 * static_cast<int>(block)) = pixel;
        }
    }

    /// Calls function(number, phase, first_step) for each phase of y: its number in each mode, its taps (GroupedPhase),
    /// and the index of its first step among the steps of all phases.
    template <class Conv, class Function>
    __device__ static void for_each_phase(GroupedTiles const& tiles, Conv const& conv, Function const& function) {
        if constexpr (detail::spreads<std::remove_cvref_t<decltype(conv.filter)>>) {
            PerMode<2> const phases = grouped_phases(conv.filter);
            int first_step = 0;
#pragma unroll 1
            for (int i = 0; i < phases.h * phases.w; ++i) {
                PerMode<2> const number{i / phases.w, i % phases.w};
                GroupedPhase const phase = grouped_phase(conv.filter, number);
                function(number, phase, first_step);
                first_step += grouped_steps(phase, tiles.tile.channel_blocks);
            }
        } else {
            function(PerMode<2>{0, 0}, grouped_phase(conv.filter, {}), 0);
        }
    }

    /// Pair `number` of a phase, half of an MMA's GemmK: row and column of the tap among the phase's taps, and block of
    /// 8 channels.
    struct Pair {
        int row, column, block;

        template <class Conv>
        __device__ Pair(GroupedTiles const& tiles, Conv const&, GroupedPhase const& phase, int number) {
            auto const pair = static_cast<unsigned>(number), tap = tiles.channel_blocks.divide(pair),
                       columns = static_cast<unsigned>(phase.count.w);
            unsigned r;
            if constexpr (detail::spreads<std::remove_cvref_t<decltype(Conv::filter)>>)
                r = tap / (columns + (columns == 0));
            else r = tiles.filter_columns.divide(tap);
            row = static_cast<int>(r), column = static_cast<int>(tap - r * columns),
            block = static_cast<int>(pair - tap * tiles.channel_blocks.value());
        }
    };

    /// Fills the SMEM table of the pairs' byte offsets in the halo, from a window's first element; two pairs per step.
    /// If a phase has an odd number of pairs, the last offset is repeated, and its weights are zero.
    template <class Conv>
    __device__ static void fill_offsets(GroupedTiles const& tiles, Conv const& conv, int* offsets, unsigned thread) {
        GroupedTile const& tile = tiles.tile;
        for_each_phase(tiles, conv, [&](PerMode<2> const&, GroupedPhase const& phase, int first_step) {
            int const steps = grouped_steps(phase, tile.channel_blocks),
                      last = phase.count.h * phase.count.w * tile.channel_blocks - 1;
            for (int i = static_cast<int>(thread); i < 2 * steps; i += threads) {
                Pair const pair(tiles, conv, phase, (min)(i, last));
                int const row = phase.start.h + pair.row * phase.move.h,
                          column = phase.start.w + pair.column * phase.move.w;
                offsets[2 * first_step + i] = (row * tile.halo_columns + column) * tile.pitch + 16 * pair.block;
            }
        });
    }

    /// Address of the weight of filter `filter` at tap 0 and the first channel of its group, `group`.
    template <class Conv>
    __device__ static T const* weights_of(GroupedTiles const& tiles, Conv const& conv, int filter, int group) {
        return conv.weights_of(group) +
               (filter - group * static_cast<int>(tiles.group_filters.value())) * conv.w.layout.stride[0];
    }

    /// Stores the filters to SMEM as fragments of the MMA's operand b: [N-block][step][lane][half], a word with the
    /// weights of channels 2 (lane % 4) and 2 (lane % 4) + 1 of filter lane / 4, for pair 2 step + half. Weights of
    /// channels of other groups, of filters past K and of the pair past a phase's last one are zero. Words that are
    /// aligned in memory are copied by cp.async, so that all loads of a thread are in flight at once.
    template <class Conv>
    __device__ static void store_filters(GroupedTiles const& tiles, GroupedCoord const& at, Conv const& conv,
                                         std::uint32_t* filters, unsigned thread) {
        constexpr int n_blocks = GroupedTile::unit / 8, warps = threads / 32, outside = -(1 << 30);
        GroupedTile const& tile = tiles.tile;
        Layout<4> const& w = conv.w.layout;
        int const lane = static_cast<int>(thread % 32);
        for (int unit = 0; unit < tile.units; ++unit) {
            T const* from[n_blocks];
            int channels[n_blocks];  // channel of the lane's first word, counted in its filter's group
#pragma unroll
            for (int j = 0; j < n_blocks; ++j) {
                int const number = unit * n_blocks + j, filter = at.k + 8 * number + lane / 4,
                          group = static_cast<int>(tiles.group_filters.divide(static_cast<unsigned>(filter))),
                          c = (at.channel_block + at.first_block(tiles, number)) * 8 + lane % 4 * 2 -
                              group * tiles.group_channels;
                from[j] = weights_of(tiles, conv, filter, group) + c * w.stride[1];
                channels[j] = filter < static_cast<int>(conv.y[1]) ? c : outside;
            }
            for_each_phase(tiles, conv, [&](PerMode<2> const&, GroupedPhase const& phase, int first_step) {
                int const steps = grouped_steps(phase, tile.channel_blocks),
                          pairs = phase.count.h * phase.count.w * tile.channel_blocks;
#pragma unroll 1
                for (int step = static_cast<int>(thread / 32); step < steps; step += warps) {
                    std::uint32_t* const to =
                        filters + (unit * n_blocks * tile.steps + first_step + step) * 64 + lane * 2;
                    Packet<T, 2> words[2][n_blocks];
#pragma unroll
                    for (int half = 0; half < 2; ++half) {
                        Pair const pair(tiles, conv, phase, 2 * step + half);
                        int const channel = 8 * pair.block;
                        std::int64_t const offset = (phase.first.h + pair.row * phase.step.h) * w.stride[2] +
                                                    (phase.first.w + pair.column * phase.step.w) * w.stride[3] +
                                                    channel * w.stride[1];
#pragma unroll
                        for (int j = 0; j < n_blocks; ++j) {
                            bool const valid =
                                2 * step + half < pairs && static_cast<unsigned>(channels[j] + channel) <
                                                               static_cast<unsigned>(tiles.group_channels);
                            T const* const word = valid ? from[j] + offset : conv.w.data;
                            if (tiles.paired_weights) {
                                copy_async<4>(to + j * tile.steps * 64 + half, word, valid);
                            } else {
                                words[half][j].values[0] = load_if(valid, word);
                                words[half][j].values[1] = load_if(valid, word + w.stride[1]);
                            }
                        }
                    }
                    if (tiles.paired_weights) continue;
#pragma unroll
                    for (int j = 0; j < n_blocks; ++j)
#pragma unroll
                        for (int half = 0; half < 2; ++half)
                            to[j * tile.steps * 64 + half] = config::bit_cast<std::uint32_t>(words[half][j]);
                }
            });
        }
    }
};

}  // namespace fusekit::hip
