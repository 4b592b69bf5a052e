// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/conv_phases.hpp"

namespace fusekit::hip {

/// Coordinates of a CTA's tile of y: TileM pixels x TileN channels of one group; pixels are numbered over all images, a
/// slab, a phase or a matrix. CTAs are numbered along channels first, then groups, then pixels.
template <int TileM, int TileN>
struct TileCoord {
    unsigned block, tiles_n, groups;
    int group, first_m, first_n, first_k;  ///< first_n counts a group's channels, first_k all channels
    int left_m;  ///< remaining pixels from the first on
    unsigned count_n;  ///< channels of the tile within bounds

    template <class Problem>
    __device__ TileCoord(Problem const& conv, unsigned the_block)
        : block(the_block),
          tiles_n(static_cast<unsigned>(detail::divide_up(conv.group_k(), TileN))),
          groups(static_cast<unsigned>(conv.groups())),
          group(static_cast<int>(block / tiles_n % groups)),
          first_m(static_cast<int>((block / tiles_n / groups - conv.first_tile) * TileM)),
          first_n(static_cast<int>(block % tiles_n * TileN)),
          first_k(conv.first_k(group) + first_n),
          left_m(conv.gemm_m() - first_m),
          count_n(static_cast<unsigned>((min)(conv.group_k() - first_n, TileN))) {}

    /// Index of the tile along pixels, and index of its column of tiles.
    __device__ unsigned tile() const { return block / tiles_n / groups; }
    __device__ unsigned column() const { return block % (tiles_n * groups); }
};

/// A CTA's tile of y, in SMEM: pixels, their offsets and the channels' states.
template <class Plan, int TileM, int TileN>
struct OutputTile {
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;

    Pixel pixels[TileM];
    std::int64_t offsets[TileM];  ///< of the pixels, in y
    Uninitialized<State> states[Epilogue::channelwise ? TileN : 1];

    /// Called by all threads. Pixels of a plan that pools are numbered window by window.
    template <int threads, class Problem>
    __device__ void prepare(Problem const& conv, typename Epilogue::Args const& epilogue,
                            TileCoord<TileM, TileN> const& at, unsigned thread) {
        for (unsigned i = thread; i < TileM; i += threads) {
            int const m = at.first_m + static_cast<int>(i);
            Pixel const pixel = Plan::pools ? conv.pixel_of_windows(m) : conv.pixel(m, at.group);
            pixels[i] = pixel;
            offsets[i] = conv.output_offset(pixel);
        }
        if constexpr (Epilogue::channelwise) {
            for (unsigned i = thread; i < at.count_n; i += threads)
                states[i].value() = Epilogue::prepare(std::int64_t{at.first_k} + i, epilogue);
        }
    }

    __device__ State state(unsigned n) { return states[Epilogue::channelwise ? n : 0].value(); }
};

}  // namespace fusekit::hip
