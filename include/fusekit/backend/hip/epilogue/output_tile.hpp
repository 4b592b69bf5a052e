// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/collective/tile_coord.hpp"

namespace fusekit::hip {

/// SMEM data of a CTA's tile of y: its pixels, their offsets in y, and the channels' prepared epilogue parameters.
template <class Plan, int TileM, int TileN>
struct OutputTile {
    using Epilogue = typename Plan::Epilogue;
    using State = typename Epilogue::template State<float>;

    Pixel pixels[TileM];
    std::int64_t offsets[TileM];  ///< offset of each pixel in y, in elements
    Uninitialized<State> states[Epilogue::channelwise ? TileN : 1];

    /// Fills the tile's data; called by all threads. With pooling, the four pixels of a 2 x 2 window are consecutive.
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
