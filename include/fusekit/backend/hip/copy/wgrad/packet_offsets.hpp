// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/copy/wgrad/load_pixels.hpp"
#include "fusekit/backend/hip/copy/wgrad/tile.hpp"

namespace fusekit::hip {

/// The filter taps that occur in a tile of dw, whose columns are (tap, channel of x) with channels fastest: `count`
/// consecutive taps from tap `first` on.
struct TapRange {
    int first, count;

    template <class Tile, class Problem>
    __device__ static TapRange of_tile(Problem const& conv, WeightGradientTileAt<Tile> const& at, int weights) {
        int const channels = conv.group_c(), first = at.first_column / channels,
                  last_column = (min)(at.first_column + Tile::m, weights) - 1;
        return {of_wave(first), of_wave(last_column < at.first_column ? 0 : last_column / channels - first + 1)};
    }
    /// Computes into `taps` the distance (InputCoord) of each tap from a window's origin, in coordinates and in
    /// elements. Thread i computes tap number i of the range.
    template <class Problem, class InputCoord>
    __device__ void find(Problem const& conv, InputCoord* taps, unsigned thread) const {
        if (static_cast<int>(thread) >= count) return;
        int const tap = first + static_cast<int>(thread);
        KCoord const of = conv.k_coord(static_cast<unsigned>(tap * conv.group_c()), true);
        taps[thread].at = conv.distance(of.r, of.s);
        taps[thread].offset = conv.input_offset(taps[thread].at);
    }
};

/// LDS table of byte offsets (Buffer) for the pixels of four k-tiles: in dy, and in x for each tap that occurs in the
/// tile's columns. An offset in padding is out of the Buffer's range. All columns of a 16-byte vector have the same
/// tap.
template <Element T, int Space, class Tile, int StepPixels>
class TapPacketOffsets {
    static constexpr int max_taps = Tile::m / (16 / static_cast<int>(sizeof(T)));
    static constexpr int threads = Tile::threads;

public:
    static constexpr int pixels = 4 * StepPixels;
    static_assert((threads % pixels == 0 || pixels % threads == 0) && threads >= max_taps);
    /// number of threads that divide the taps of one pixel
    static constexpr int parts = threads < pixels ? 1 : threads / pixels;

    alignas(16) std::uint32_t in_x[max_taps][pixels], in_dy[pixels];

    /// Computes the taps' distances from a window's origin. All threads call it once; a CTA barrier must follow.
    template <class Problem>
    __device__ void find_taps(Problem const& conv, TapRange const& range, unsigned thread) {
        range.find(conv, taps, thread);
    }
    /// Fills the table for `pixels` consecutive pixels of dy from pixel `first` on. Offsets of pixels at `end` and
    /// later are out of the Buffer's range.
    template <class Problem>
    __device__ void fill(Problem const& conv, TapRange const& range, int first, int end, unsigned thread) {
        int const part = of_wave(static_cast<int>(thread / pixels));
        for (unsigned number = thread % pixels; number < pixels; number += threads) {
            int const pixel = first + static_cast<int>(number);
            bool const in_bounds = pixel < end;
            Pixel const to = conv.pixel(in_bounds ? pixel : 0);
            auto const window = conv.window(to);
            std::int64_t const offset = to.n * conv.x.layout.stride[0] + conv.input_offset(window);
#pragma unroll 1
            for (int tap = part; tap < range.count; tap += parts) {
                InputCoord<Space> const from = taps[tap].whole();
                in_x[tap][number] = in_bounds && conv.has(window, from.at) ? biased_offset(offset + from.offset)
                                                                           : Buffer::out_of_bounds;
            }
            if (part == parts - 1)
                in_dy[number] = in_bounds ? biased_offset(conv.output_offset(to)) : Buffer::out_of_bounds;
        }
    }

private:
    InputCoord<Space> taps[max_taps];  ///< distances of the tile's taps from a window's origin

    __device__ static std::uint32_t biased_offset(std::int64_t offset) {
        return Buffer::bias + static_cast<std::uint32_t>(offset) * static_cast<std::uint32_t>(sizeof(T));
    }
};

}  // namespace fusekit::hip
