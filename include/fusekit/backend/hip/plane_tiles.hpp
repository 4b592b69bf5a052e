// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/integer.hpp"
#include "fusekit/backend/hip/runtime/platform.hpp"
#include "fusekit/problem/conv.hpp"

namespace fusekit::hip {

/// Tiling of a convolution of NCHW tensors ("planes") with stride and dilation 1. A tile of y consists of one or more
/// parts. A part is at most `Pixels` pixels: rows of y of one image, with gaps between the rows, or, for 1x1 filters
/// with channels last, pixels of all images. Pixel (p, q) of a part has index p pitch + q; its tap (r, s) reads the
/// pixel of the tile of x whose index is larger by r pitch + s. The tile of x has the same pitch and the rows that the
/// windows read. The padding right of a row is also the padding left of the next row, so that a gap is as wide as the
/// wider of the two. With a Pool, a part has an even number of rows, and rows are an even
/// number of pixels apart. With 1x1 filters there are no gaps: a plane is
/// treated as one column. A tile of x has one channel block of GemmK: 64 channels of 16 bits, or 32 channels of float
/// as three bfloat16 terms.
template <int Pixels, class T>
struct PlaneTiles {
    static constexpr int pixels = Pixels;
    static constexpr int element_bytes = sizeof(T), terms = element_bytes == 4 ? 3 : 1;
    /// channels, and bytes, of one pixel (a row) in the transposed tile of x
    static constexpr int channels = 128 / element_bytes, row_bytes = 2 * channels;
    static constexpr int packet = 16 / element_bytes;  ///< elements in 16 bytes

    int y_height, y_width, x_height, x_width;
    int window_rows, window_columns, pad_top, pad_left;
    int pitch, rows;  ///< pixels from the start of a row of y in a tile to the next row's; rows of y per part
    int of_image;  ///< parts (ranges of rows) of a plane of y
    int images;
    bool channels_last;  ///< true if x and y are channels-last
    bool single;  ///< true for 1x1 filters without padding

    FUSEKIT_HD constexpr PlaneTiles(Extent height_of_y, Extent width_of_y, Extent height_of_x, Extent width_of_x,
                                    Filter<2> const& filter, Extent number_of_images = 1,
                                    bool are_channels_last = false, bool pools = false)
        : y_height(static_cast<int>(height_of_y)),
          y_width(static_cast<int>(width_of_y)),
          x_height(static_cast<int>(height_of_x)),
          x_width(static_cast<int>(width_of_x)),
          window_rows(filter.size[0]),
          window_columns(filter.size[1]),
          pad_top(filter.pad_before[0]),
          pad_left(filter.pad_before[1]),
          images(static_cast<int>(number_of_images)),
          channels_last(are_channels_last) {
        single = window_rows * window_columns == 1 && y_height == x_height && y_width == x_width;
        if (single) {
            y_height *= y_width;
            if (channels_last) y_height *= images, images = 1;
            x_height = y_height, y_width = x_width = 1;
        }
        int const seen = y_width + window_columns - 1, pad_right = seen - pad_left - x_width,
                  shared = pad_left < pad_right ? pad_left : pad_right;
        pitch = seen - shared > y_width ? seen - shared : y_width;
        if (pools) pitch += pitch % 2;
        int most = (Pixels - y_width) / pitch + 1;
        if (pools) most = most > 2 ? most / 2 * 2 : 2;
        int const fewest = divide_up_32(y_height, most);
        rows = divide_up_32(y_height, fewest);
        if (pools) rows = divide_up_32(rows, 2) * 2;
        if (single && fewest > 1) rows = (rows + 7) / 8 * 8;
        of_image = divide_up_32(y_height, rows);
    }

    FUSEKIT_HD constexpr int taps() const { return window_rows * window_columns; }
    FUSEKIT_HD constexpr int rows_of_x() const { return rows + window_rows - 1; }
    /// Number of pixels in a tile of x: the last tap's offset plus Pixels, because the MMAs of each tap read Pixels
    /// consecutive pixels.
    FUSEKIT_HD constexpr int pixels_of_x() const { return (window_rows - 1) * pitch + window_columns - 1 + Pixels; }
    /// Number of pixels of a tile of x that the windows of a part's pixels read.
    FUSEKIT_HD constexpr int pixels_read() const { return (rows_of_x() - 1) * pitch + y_width + window_columns - 1; }

    /// Number of pixels of a part of y, including the gaps between rows.
    FUSEKIT_HD constexpr int pixels_of_y() const { return (rows - 1) * pitch + y_width; }
    /// N, in pixels, of each of the two MMAs that cover a part: the smallest N of wgmma that is wide enough.
    FUSEKIT_HD constexpr int columns_of_half() const {
        static_assert(Pixels == 240);
        int const needed = (pixels_of_y() + 1) / 2;
        return needed <= 104 ? 104 : needed <= 112 ? 112 : 120;
    }

    /// For channels-last x: number of pixels of x that TMA loads for a part, and distance in bytes in SMEM from the
    /// pixels of one part to those of the next.
    FUSEKIT_HD constexpr int pixels_loaded() const { return rows_of_x() * pitch; }
    FUSEKIT_HD constexpr int part_bytes() const {
        return (pixels_loaded() * channels * element_bytes + 1023) / 1024 * 1024;
    }
    /// Offset in bytes, from the start of a tile of x, of 16-byte chunk `chunk` (8 channels) of a pixel, after the
    /// swizzle.
    FUSEKIT_HD static constexpr unsigned chunk_offset(int pixel, unsigned chunk) {
        constexpr unsigned chunks = row_bytes / 16;
        auto const row = static_cast<unsigned>(pixel);
        return row * row_bytes + (chunk ^ row * chunks / 8 % chunks) * 16;
    }

    /// True if a part has all rows of an image: then the planes of consecutive channels are contiguous in the part.
    FUSEKIT_HD constexpr bool whole() const { return rows == y_height; }
    /// Distance in elements from a channel to the next in an SMEM stage of x's planes. A copy starts at a multiple of
    /// 16 bytes, so up to 16 bytes less one element before the first element that is needed.
    FUSEKIT_HD constexpr int plane_pitch() const {
        int const seen = rows_of_x() < x_height ? rows_of_x() : x_height;
        return whole() ? plane() : (seen * x_width + 2 * (packet - 1)) / packet * packet;
    }

    /// Number of elements of a plane of x, which is one channel of one image.
    FUSEKIT_HD constexpr int plane() const { return x_height * x_width; }
    /// Number of elements by which the copy of channel `channel` of a channel block starts before row `first` of x, so
    /// that its address is a multiple of 16 bytes.
    FUSEKIT_HD constexpr int early(int channel, int first) const {
        return whole()
                   ? 0
                   : static_cast<int>(static_cast<unsigned>(channel * (plane() % packet) + first * x_width) % packet);
    }

    /// First row of x (first_row_of_x), and the row past the last (end_row_of_x), that the windows of a part starting
    /// at row `row` of y read; clamped to x.
    FUSEKIT_HD constexpr int first_row_of_x(int row) const {
        int const first = whole() ? 0 : row - pad_top;
        return first > 0 ? first : 0;
    }
    FUSEKIT_HD constexpr int end_row_of_x(int row) const {
        int const end = whole() ? x_height : row - pad_top + rows_of_x();
        return end < x_height ? end : x_height;
    }

    /// Bytes of SMEM for `parts` parts. term_bytes(): the transposed tile of x of one bfloat16 term. tile_bytes(): of
    /// all terms. plane_bytes(): one stage of x's planes as TMA loads them.
    FUSEKIT_HD constexpr int term_bytes(int parts) const {
        return (parts * pixels_of_x() * row_bytes + 1023) / 1024 * 1024;
    }
    FUSEKIT_HD constexpr int tile_bytes(int parts) const { return terms * term_bytes(parts); }
    FUSEKIT_HD constexpr int plane_bytes(int parts) const {
        return channels_last ? parts * part_bytes()
                             : (parts * plane_pitch() * channels * element_bytes + 127) / 128 * 128;
    }
    /// Number of stages of x's planes that fit `bytes` bytes of SMEM in addition to two transposed tiles, at most
    /// `most`.
    FUSEKIT_HD constexpr int plane_stages(int parts, int bytes, int most) const {
        int const fit = (bytes - 2 * tile_bytes(parts)) / plane_bytes(parts);
        return fit < most ? fit : most;
    }
};

}  // namespace fusekit::hip
