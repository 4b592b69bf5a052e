// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/async_copy.hpp"
#include "fusekit/backend/hip/grouped_tma_tiles.hpp"
#include "fusekit/config.hpp"
#include "fusekit/tensor/dtype.hpp"

namespace fusekit::hip {

/// Weights of GroupedTmaConv's filters as fragments of B in SMEM: [warp's 16 filters][step][lane][N-block][half], a
/// word of the weights of channels 2 (lane % 4) and following of filter lane / 4 of the N-block. A step multiplies 16
/// channels of a tap, [row][16 channels][column of the filter]; in groups of fewer than 16 channels two taps of an
/// N-block's 8 channels, columns 0 and 1, then column 2 and zeros, for each row.
template <Element T, int threads>
struct GroupedFragments {
    /// Stores the fragments of `tile.channels` filters from filter `first` on.
    template <class Conv>
    __device__ static void store(GroupedTmaTiles const& tiles, Conv const& conv, int first, std::uint32_t* to,
                                 unsigned thread) {
        constexpr int warps = threads / 32, side = GroupedTmaTile::side, in_warp = GroupedTmaTile::filters_per_warp;
        GroupedTmaTile const& tile = tiles.tile;
        Layout<4> const& w = conv.w.layout;
        GroupedPhase const phase = grouped_phase(conv.filter, {});
        int const lane = static_cast<int>(thread % 32), channels = static_cast<int>(tiles.group_channels.value()),
                  filters = static_cast<int>(conv.y[1]), steps = tile.steps, of_row = steps / side;
        bool const pairs = channels < 16;
        for (int item = 0; item < tile.channels / in_warp; ++item) {
            int filter[2], channel[2];  // of each N-block; the lane's first channel in its group, of the N-block's 8
            T const* from[2];
#pragma unroll
            for (int n = 0; n < 2; ++n) {
                int const begin = first + item * in_warp + 8 * n, number = begin + lane / 4,
                          group = static_cast<int>(tiles.group_channels.divide(static_cast<unsigned>(number)));
                filter[n] = number;
                channel[n] = lane % 4 * 2 + (pairs ? begin - group * channels : 0);
                from[n] = conv.weights_of(group) + (number - group * channels) * w.stride[0] + channel[n] * w.stride[1];
            }
#pragma unroll 1
            for (int step = static_cast<int>(thread / 32); step < steps; step += warps) {
                int const row = step / of_row, rest = step - row * of_row;
                std::uint32_t* const words = to + (item * steps + step) * 128 + lane * 4;
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    int const column = pairs ? 2 * rest + half : rest % side,
                              block = pairs ? 0 : rest / side * 2 + half;
                    std::int64_t const offset = (phase.first.h + row * phase.step.h) * w.stride[2] +
                                                (phase.first.w + column * phase.step.w) * w.stride[3] +
                                                8 * block * w.stride[1];
#pragma unroll
                    for (int n = 0; n < 2; ++n) {
                        bool const valid =
                            filter[n] < filters && column < side &&
                            static_cast<unsigned>(channel[n] + 8 * block) < static_cast<unsigned>(channels);
                        T const* const word = valid ? from[n] + offset : conv.w.data;
                        if (tiles.paired_weights) {
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
    }
};

}  // namespace fusekit::hip
