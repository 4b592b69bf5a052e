// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/async_copy.hpp"
#include "fusekit/backend/hip/grouped_tma_tiles.hpp"
#include "fusekit/config.hpp"
#include "fusekit/tensor/dtype.hpp"

namespace fusekit::hip {

/// Weights of GroupedTmaConv's filters in SMEM. In groups of at least 16 channels: [filter][tap][channel], filters
/// Tile::weight_pitch() bytes apart, or, for GroupedTmaTiles::by_channels, [channel of x][tap][filter]. In smaller
/// groups fragments of B: [warp's 16 filters][step][lane][N-block][half], a word of the weights of channels 2 (lane %
/// 4) and following of filter lane / 4 of the N-block; a step multiplies an N-block's 8 channels of columns 0 and 1 of
/// a row of the filter, or of column 2. With phases of y, taps are in the filter's order, and the columns of a fragment
/// are those of the taps 2, 0 and 1: taps 2 and 0 of a phase read adjacent pixels, in this order.
template <Element T>
struct GroupedFragments {
    /// Stores the weights of `tile.channels` filters from filter `first` on.
    template <class Conv>
    __device__ static void store(GroupedTmaTiles const& tiles, Conv const& conv, int first, unsigned char* to,
                                 unsigned thread) {
        if (tiles.tile.group < 16) store_fragments(tiles, conv, first, reinterpret_cast<std::uint32_t*>(to), thread);
        else store_rows(tiles, conv, first, to, thread);
    }

private:
    /// Tap of y's filter, in one mode, that is number `i` in SMEM.
    template <class Geometry>
    __device__ static int tap_of(Geometry const& filter, int mode, int i) {
        if constexpr (detail::spreads<Geometry>) return i;
        else return grouped_phase(filter, {}).first[mode] + i * grouped_phase(filter, {}).step[mode];
    }

    template <class Conv>
    __device__ static void store_rows(GroupedTmaTiles const& tiles, Conv const& conv, int first, unsigned char* to,
                                      unsigned thread) {
        constexpr unsigned side = GroupedTmaTile::side, taps = side * side;
        GroupedTmaTile const& tile = tiles.tile;
        Layout<4> const& w = conv.w.layout;
        std::int64_t const of_filter = w.stride[0], of_channel = w.stride[1],
                           row_stride = tiles.by_channels ? of_channel : of_filter,
                           step = tiles.by_channels ? of_filter : of_channel;
        auto const of_tap = static_cast<unsigned>(tile.group) / 8,
                   all = static_cast<unsigned>(tile.channels) * taps * of_tap;
#pragma unroll 1
        for (unsigned i = thread; i < all; i += blockDim.x) {
            unsigned const row = i / of_tap, block = i - row * of_tap, filter = row / taps, tap = row - filter * taps;
            int const number = first + static_cast<int>(filter), r = static_cast<int>(tap / side),
                      s = static_cast<int>(tap % side),
                      group = static_cast<int>(tiles.group_channels.divide(static_cast<unsigned>(number)));
            bool const valid = number < static_cast<int>(conv.y[1]);
            T const* const from = conv.weights_of(group) + (number - group * tile.group) * row_stride +
                                  tap_of(conv.filter, 0, r) * w.stride[2] + tap_of(conv.filter, 1, s) * w.stride[3] +
                                  8 * static_cast<int>(block) * step;
            unsigned char* const word = to + filter * tile.weight_pitch() + (tap * of_tap + block) * 16;
            if (tiles.vectors) {
                copy_async<16>(word, valid ? from : conv.w.data, valid);
            } else {
                Packet<T, 8> weights;
#pragma unroll
                for (int e = 0; e < 8; ++e) weights.values[e] = load_if(valid, from + e * step);
                *reinterpret_cast<Packet<T, 8>*>(word) = weights;
            }
        }
    }

    template <class Conv>
    __device__ static void store_fragments(GroupedTmaTiles const& tiles, Conv const& conv, int first, std::uint32_t* to,
                                           unsigned thread) {
        constexpr int side = GroupedTmaTile::side, steps = 2 * side, in_warp = GroupedTmaTile::filters_per_warp;
        GroupedTmaTile const& tile = tiles.tile;
        Layout<4> const& w = conv.w.layout;
        constexpr bool spreads = detail::spreads<std::remove_cvref_t<decltype(conv.filter)>>;
        int const lane = static_cast<int>(thread % 32), filters = static_cast<int>(conv.y[1]),
                  all = tile.channels / in_warp * steps;
#pragma unroll 1
        for (int i = static_cast<int>(thread / 32); i < all; i += static_cast<int>(blockDim.x / 32)) {
            int const item = i / steps, row = i % steps / 2, rest = i % 2;
            std::uint32_t* const words = to + i * 128 + lane * 4;
#pragma unroll
            for (int n = 0; n < 2; ++n) {
                int const begin = first + item * in_warp + 8 * n, number = begin + lane / 4,
                          group = static_cast<int>(tiles.group_channels.divide(static_cast<unsigned>(number))),
                          channel = lane % 4 * 2 + begin - group * tile.group;
                T const* const from = conv.weights_of(group) + (number - group * tile.group) * w.stride[0] +
                                      channel * w.stride[1] + tap_of(conv.filter, 0, row) * w.stride[2];
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    int const column = 2 * rest + half,
                              s = spreads ? (column < 2 ? 2 - 2 * column : 1) : tap_of(conv.filter, 1, column);
                    bool const valid = number < filters && column < side &&
                                       static_cast<unsigned>(channel) < static_cast<unsigned>(tile.group);
                    T const* const word = valid ? from + s * w.stride[3] : conv.w.data;
                    if (tiles.vectors) {
                        copy_async<4>(words + 2 * n + half, word, valid);
                    } else {
                        Packet<T, 2> pair;
                        pair.values[0] = load_if(valid, word), pair.values[1] = load_if(valid, word + w.stride[1]);
                        words[2 * n + half] = config::bit_cast<std::uint32_t>(pair);
                    }
                }
            }
        }
    }
};

}  // namespace fusekit::hip
