// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/tall_plane_tiles.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::hip {

/// A thread's loads of the windows of its two adjacent pixels from NCHW planes to registers, as operand a of wgmma, for
/// one step of 32 indices of GemmK at a time. `single`: all filters are 1x1, with stride 1 and without padding.
template <class T, bool single>
class PlaneWindows {
    using Tiles = TallPlaneTiles;
    static constexpr bool has_windows = !single;
    static constexpr int block = 16;  ///< indices of GemmK of an MMA

public:
    static constexpr int k_blocks = Tiles::step / block;

    /// Table of the indices of GemmK of windows.
    class Taps {
    public:
        /// An index of GemmK: offset of its tap from the window's first element, and row and column of the tap.
        struct Tap {
            int offset;
            std::uint16_t row, column;
        };

        /// Fills the table. All threads call it; a barrier follows.
        __device__ void init(Layout<4> const& of_x, Tiles const& of_tiles, unsigned first, int threads) {
            if constexpr (has_windows) {
                if (!of_tiles.windows) return;
                auto const plane = static_cast<int>(of_x.stride[1]), width = static_cast<int>(of_x.shape[3]);
                for (int k = static_cast<int>(first); k < Tiles::max_k; k += threads) {
                    int const index = k < of_tiles.k ? k : 0, c = index / of_tiles.taps,
                              tap = index - c * of_tiles.taps, r = tap / of_tiles.window_columns,
                              s = tap - r * of_tiles.window_columns;
                    // The row of an index past GemmK is in bounds of no window.
                    taps[k] = {c * plane + r * of_tiles.dilation_h * width + s * of_tiles.dilation_w,
                               static_cast<std::uint16_t>(k < of_tiles.k ? r : Tiles::max_taps - 1),
                               static_cast<std::uint16_t>(s)};
                }
            }
        }
        __device__ Tap const& at(int k) const { return taps[k]; }

    private:
        alignas(16) Tap taps[has_windows ? Tiles::max_k : 1];
    };

    T values[k_blocks][8];  ///< of a k-block: operand a, before floats are split

    template <class Params>
    __device__ PlaneWindows(Params const& params, Taps const& the_taps, unsigned group, unsigned the_thread)
        : layout(params.x.layout),
          tiles(params.tall_planes),
          taps(the_taps),
          thread(the_thread),
          own(static_cast<int>(the_thread % 4) * 2),
          of_group(params.x.data + group * static_cast<unsigned>(tiles.group_channels) * layout.stride[1]) {}

    /// Number of the first of a thread's two pixels in tile `tile`.
    __device__ static unsigned first_pixel(unsigned tile, unsigned thread) {
        return tile * Tiles::pixels + thread % 128 / 32 * 16 + thread % 32 / 4 * 2;
    }

    /// Finds the thread's pixels in tile `tile`. Past the last pixel of y the first is pixel 0, and the second the
    /// first, because `second` has 32 bits.
    __device__ void begin(unsigned tile) {
        unsigned const pixel = first_pixel(tile, thread), last = tiles.all_pixels - 1;
        unsigned const one = pixel <= last ? pixel : 0, two = pixel + 1 <= last ? pixel + 1 : one;
        std::int64_t at, next;
        if (has_windows && tiles.windows) {
            at = begin_window(one, 0), next = begin_window(two, 1);
            x = of_group + at;
        } else {
            at = tiles.offset_of(layout.stride[0], one), next = tiles.offset_of(layout.stride[0], two);
            x = of_group + own * layout.stride[1] + at;
        }
        second = static_cast<int>(next - at);
    }
    /// Issues the loads of indices k to k + 31. Those past the last one become zero.
    __device__ void load(int k) {
        if constexpr (has_windows) {
            if (tiles.windows) return load_windows(k);
        }
        if (tiles.pairs) load_pixels<true>(k);
        else load_pixels<false>(k);
    }

private:
    Layout<4> const& layout;
    Tiles const& tiles;
    Taps const& taps;
    unsigned thread;
    int own;  ///< the thread's first index of a k-block
    T const* of_group;  ///< first element of the group's first channel
    T const* x;  ///< the thread's first pixel in channel `own`, or the start of its window
    int second;  ///< offset of its second pixel, or window, from the first
    std::uint32_t rows[2], columns[2];  ///< of a window: bit i is set if row, or column, i is in bounds of x

    /// Finds the taps in bounds of x of window `i` of the thread, of pixel `pixel` of y, and returns the window's
    /// offset in channel 0 of image 0.
    __device__ std::int64_t begin_window(unsigned pixel, int i) {
        unsigned const n = tiles.plane.divide(pixel), within = pixel - n * tiles.plane.value(),
                       p = tiles.row.divide(within), q = within - p * tiles.row.value();
        int const height = static_cast<int>(layout.shape[2]), width = static_cast<int>(layout.shape[3]),
                  h = static_cast<int>(p) * tiles.stride_h - tiles.pad_top,
                  w = static_cast<int>(q) * tiles.stride_w - tiles.pad_left;
        rows[i] = columns[i] = 0;
        for (int r = 0, at = h; r * tiles.window_columns < tiles.taps; ++r, at += tiles.dilation_h)
            rows[i] |= (static_cast<unsigned>(at) < static_cast<unsigned>(height) ? 1u : 0u) << r;
        for (int s = 0, at = w; s < tiles.window_columns; ++s, at += tiles.dilation_w)
            columns[i] |= (static_cast<unsigned>(at) < static_cast<unsigned>(width) ? 1u : 0u) << s;
        return n * layout.stride[0] + std::int64_t{h} * width + w;
    }
    __device__ void load_windows(int k) {
#pragma unroll
        for (int number = 0; number < k_blocks; ++number)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                auto const tap = taps.at(k + number * block + own + i % 2 + i / 2 * 8);
#pragma unroll
                for (int pixel = 0; pixel < 2; ++pixel) {
                    bool const inside = (rows[pixel] >> tap.row & columns[pixel] >> tap.column & 1) != 0;
                    T& value = values[number][i / 2 * 4 + pixel * 2 + i % 2];
                    value = T(0.0f);
                    if (inside) value = x[tap.offset + (pixel == 0 ? 0 : second)];
                }
            }
    }

    template <bool pairs>
    __device__ void load_pixels(int c) {
        auto const plane = static_cast<int>(layout.stride[1]);
        T const* const from = x + c * plane;
        int const present = tiles.k - own - c;
#pragma unroll
        for (int k = 0; k < k_blocks; ++k)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                int const channel = k * block + i % 2 + i / 2 * 8;
                T &low = values[k][i / 2 * 4 + i % 2], &high = values[k][i / 2 * 4 + 2 + i % 2];
                low = high = T(0.0f);
                if (channel >= present) continue;
                if constexpr (pairs) {
                    auto const both = *reinterpret_cast<Packet<T, 2> const*>(from + channel * plane);
                    low = both.values[0], high = both.values[1];
                } else {
                    low = from[channel * plane], high = from[channel * plane + second];
                }
            }
    }
};

}  // namespace fusekit::hip
