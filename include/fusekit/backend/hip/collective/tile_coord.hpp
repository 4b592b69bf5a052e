// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/conv_phases.hpp"

namespace fusekit::hip {

/// Coordinates of a CTA's output tile: TileM pixels x TileN channels of one channel group of y. Pixels are numbered
/// over all images, over a range of images (slabs.hpp), over one phase of a TransposedConv (the pixels with the same
/// remainders of p and q by the strides, conv_phases.hpp), or over one matrix of a batch. CTAs are numbered along
/// channels first, then along channel groups, then along pixels.
template <int TileM, int TileN>
struct TileCoord {
    unsigned block, tiles_n, groups;
    /// group: index of the channel group; first_m: the tile's first pixel; first_n and first_k: the tile's first
    /// channel, counted from the first channel of the group (first_n) or of y (first_k)
    int group, first_m, first_n, first_k;
    int remaining_m;  ///< number of pixels from first_m to the last one
    unsigned count_n;  ///< number of the tile's channels in bounds of the channel group, 1 to TileN

    template <class Problem>
    __device__ TileCoord(Problem const& conv, unsigned the_block)
        : block(the_block),
          tiles_n(static_cast<unsigned>(detail::divide_up(conv.group_k(), TileN))),
          groups(static_cast<unsigned>(conv.groups())),
          group(static_cast<int>(block / tiles_n % groups)),
          first_m(static_cast<int>((block / tiles_n / groups - conv.first_tile) * TileM)),
          first_n(static_cast<int>(block % tiles_n * TileN)),
          first_k(conv.first_k(group) + first_n),
          remaining_m(conv.gemm_m() - first_m),
          count_n(static_cast<unsigned>((min)(conv.group_k() - first_n, TileN))) {}

    /// tile(): index of the tile along pixels. column(): index of the tile along channels, counted over all channel
    /// groups.
    __device__ unsigned tile() const { return block / tiles_n / groups; }
    __device__ unsigned column() const { return block % (tiles_n * groups); }
};

}  // namespace fusekit::hip
