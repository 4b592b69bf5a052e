// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/access.hpp"
#include "fusekit/backend/hip/arch/buffer.hpp"
#include "fusekit/backend/hip/arch/vector.hpp"
#include "fusekit/backend/hip/arch/wave.hpp"
#include "fusekit/backend/hip/conv_problem.hpp"
#include "fusekit/backend/hip/copy/wgrad/tile.hpp"

namespace fusekit::hip {

/// LDS table of byte offsets (Buffer) for 64 pixels of dy, for the k-loop that loads elements of x one at a time, and
/// dy in quads of four pixels. The offset of an element of x is the sum of the offsets of its window row, its window
/// column and its channel; none is negative, and the sum is below 2^29. A row or column in padding has an offset that
/// moves the sum out of the Buffer's range.
template <Element T>
struct WindowOffsets {
    static constexpr int pixels = 64, max_lines = 24;
    static constexpr std::uint32_t no_row = 1u << 31, no_column = 1u << 30;
    /// Offsets of window rows and window columns for each of the 64 pixels: one line per window row (over all slices),
    /// then one per window column; last, a line in which every pixel is in padding. In every line, pixels past the end
    /// of dy are in padding, and so are pixels that the preceding quad already contains.
    alignas(16) std::uint32_t lines[max_lines + 1][pixels];
    /// Byte offset in dy of a quad of four consecutive pixels (in_dy), and the number of its pixels that the preceding
    /// quad already contains (had).
    struct alignas(8) Quad {
        std::uint32_t in_dy, had;
    } quads[pixels / 4];
    /// For each column of dw (channel of x, tap): the byte offset of its channel in x, and the byte offsets in the
    /// table of the lines of its window row and of its window column.
    struct alignas(16) Column {
        std::uint32_t channel, row, column;
    } columns[WeightGradientTile::m];
    /// Byte offsets in dy of the tile's channels of y. A thread's channels are `channels_apart` apart, and their
    /// offsets are contiguous in this array.
    static constexpr int channels_apart = 32 * static_cast<int>(sizeof(T)) / 4,
                         of_one = WeightGradientTile::n / channels_apart;
    Packet<std::uint32_t, of_one> channels[channels_apart];

    /// Returns the number of pixels of an image, `image`, rounded up to a multiple of four. The last quad of an image
    /// ends with the image, so that some of its pixels may also be in the preceding quad.
    FUSEKIT_HD static constexpr std::int64_t whole(std::int64_t image) { return (image + 3) / 4 * 4; }

    /// Offset that stays out of the Buffer's range even after a channel's offset is added.
    static constexpr std::uint32_t out_of_bounds = Buffer::out_of_bounds + Buffer::bias;

    __device__ static std::uint32_t in_bytes(std::int64_t elements) {
        return static_cast<std::uint32_t>(elements) * static_cast<std::uint32_t>(sizeof(T));
    }
    /// Reads the offsets of one window row or window column for four consecutive pixels. `line` is the byte offset of
    /// its line in the table; `pixel` is the byte offset, in the line, of the first of the four pixels.
    __device__ Words<4> read(std::uint32_t line, std::uint32_t pixel) const {
        return read_words(reinterpret_cast<unsigned char const*>(lines) + (line + pixel));
    }
    /// Fills `columns`, and the line whose pixels are all in padding, for the tile whose first column of dw is `first`.
    /// All threads call it once; a CTA barrier must follow.
    template <int threads, class Problem>
    __device__ void fill_columns(Problem const& conv, int first, unsigned thread) {
        constexpr std::uint32_t line = sizeof lines[0];
        for (unsigned i = thread; i < WeightGradientTile::m; i += threads) {
            KCoord const of = conv.k_coord(static_cast<unsigned>(first) + i, false);
            bool const in_bounds = of.c < conv.group_c();
            columns[i] = {in_bounds ? in_bytes(of.c * conv.x.layout.stride[1]) : 0,
                          (in_bounds ? static_cast<std::uint32_t>(of.r) : max_lines) * line,
                          static_cast<std::uint32_t>(conv.window_rows() + of.s) * line};
        }
        for (unsigned i = thread; i < pixels; i += threads) lines[max_lines][i] = no_row;
    }
    /// Fills `channels` for a tile with `count` channels that are `stride` elements apart in dy. Channels at `count`
    /// and later load the tile's first channel; their results are not stored. All threads call it once; a CTA barrier
    /// must follow.
    template <int threads>
    __device__ void fill_channels(std::int64_t stride, int count, unsigned thread) {
        for (unsigned i = thread; i < WeightGradientTile::n; i += threads)
            channels[i % channels_apart].values[i / channels_apart] =
                static_cast<int>(i) < count ? in_bytes(i * stride) : 0;
    }
    /// Fills `lines` (the offsets of window rows and window columns) and `quads` (those of dy) for 64 pixels from pixel
    /// number `first` on, in a numbering that pads each image to a multiple of four pixels. Pixels at `end` and later
    /// are in padding. Half of the threads compute the window rows, the others the window columns.
    template <int threads, class Problem>
    __device__ void fill(Problem const& conv, int first, int end, unsigned thread) {
        static_assert(threads == 2 * pixels);
        unsigned const number = thread % pixels;
        int const rows = conv.window_rows(), q = conv.extent(conv.y, 3), image = conv.extent(conv.y, 2) * q,
                  plane = static_cast<int>(whole(image)), pixel = (min)(first + static_cast<int>(number), end - 1),
                  n = pixel / plane, in_plane = pixel - n * plane, own = in_plane % 4, quad = in_plane - own,
                  had = (max)(quad + 4 - image, 0), pixel_of_image = in_plane - had;
        bool const in_range = first + static_cast<int>(number) < end, in_bounds = in_range && own >= had,
                   finds_rows = of_wave(static_cast<int>(thread / pixels)) == 0;
        Pixel const to{n, pixel_of_image / q, pixel_of_image % q};
        auto const window = conv.window(to);
        constexpr int last = static_cast<int>(sizeof window / sizeof window[0]) - 1;
        if (finds_rows) {
            std::int64_t const of_image = n * conv.x.layout.stride[0];
#pragma unroll 1
            for (int r = 0; r < rows; ++r) {
                auto begin = window, distance = conv.distance(r, 0);
                begin[last] = distance[last] = 0;
                std::int64_t const offset = of_image + conv.input_offset(begin) + conv.input_offset(distance);
                lines[r][number] = in_bounds && conv.has(begin, distance) ? Buffer::bias + in_bytes(offset) : no_row;
            }
            if (number % 4 == 0)
                quads[number / 4] = {in_range ? Buffer::bias + in_bytes(conv.output_offset(to)) : out_of_bounds,
                                     static_cast<std::uint32_t>(had)};
        } else {
#pragma unroll 1
            for (int s = 0; s < conv.window_columns(); ++s) {
                decltype(conv.distance(0, s)) begin = {}, distance = {};
                begin[last] = window[last], distance[last] = conv.distance(0, s)[last];
                std::int64_t const offset = conv.input_offset(begin) + conv.input_offset(distance);
                lines[rows + s][number] = conv.has(begin, distance) ? in_bytes(offset) : no_column;
            }
        }
    }
};

}  // namespace fusekit::hip
