// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "backend/hip/native.hpp"
#include "fusekit/backend/hip/mainloop/weight_gradient.hpp"
#include "support/weight_gradients.hpp"

/// Weight gradients on the matrix units of the target that a program is compiled for.
namespace test {

/// The gradient alone: what accumulates into dw does not depend on how x and dy are loaded.
template <class T, auto Geometry>
void check_plain(fk::hip::Device& device, GradientCase const& of) {
    check_weight_gradient<T, Geometry, false>(device, of);
}

/// The accumulators are a matrix unit's if the target has one for T.
template <class T>
void check_stage() {
    using Atom = typename fk::hip::WeightGradientAtom<T>::Type;
    CHECK(std::is_same_v<decltype(Atom::Stage::x), fk::hip::RowTile<T, Atom::tile_m, 64>> == has_unit<T>);
}

/// One case for each way to load x and dy.
template <class T>
void check_each_loader(fk::hip::Device& device) {
    check_plain<T, fk::filter(3, 3).pad(1)>(device, {{2, 24, 11, 13}, 72, "nhwc", "nhwc", "nhwc"});
    check_plain<T, fk::filter(1, 1)>(device, {{1, 128, 3, 5}, 136, "nhwc", "nhwc", "nhwc"});
    check_plain<T, fk::filter(3, 1).stride(2)>(device, {{2, 76, 9, 8}, 68, "nhwc", "nhwc", "nhwc"});
    check_plain<T, fk::filter(3, 3).pad(1).stride(2)>(device, {{2, 17, 15, 18}, 70, "nchw", "nchw", "nchw"});
    check_plain<T, fk::filter(3, 3).pad(1).stride(2)>(device, {{2, 24, 15, 18}, 68, "nchw", "nchw", "nchw"});
    check_plain<T, fk::filter(1, 1)>(device, {{3, 24, 7, 7}, 12, "nchw", "nchw", "nchw"});
    check_plain<T, fk::filter(3, 3).pad(1)>(device, {{2, 44, 13, 21}, 66, "nchw", "nchw", "nhwc"});
}

/// Every case of every loader.
template <class T>
void check_all_loaders(fk::hip::Device& device) {
    // Packets of both operands: windows in padding; pixels that end within a k-tile or with a table; groups, with the
    // column of ones in their last columns; slices; windows of more taps than a word has bits; rows of dy with gaps;
    // negative strides.
    check_plain<T, fk::filter(1, 2)>(device, {{3, 144, 7, 9}, 72, "nhwc", "nhwc", "nhwc"});
    check_plain<T, fk::filter(3, 3).pad(1)>(device, {{2, 24, 11, 13}, 72, "nhwc", "nhwc", "nhwc"});
    check_plain<T, fk::filter(3, 3).pad(2).stride(2).dilation(2).groups(2)>(
        device, {{2, 48, 16, 16}, 160, "nhwc", "nhwc", "nhwc"});
    check_plain<T, fk::filter(2, 3, 1).pad(1)>(device, {{1, 8, 5, 4, 3}, 16, "ndhwc", "ndhwc", "ndhwc"});
    check_plain<T, fk::filter(5, 8)>(device, {{1, 8, 7, 12}, 8, "nhwc", "nhwc", "nhwc"});
    check_plain<T, fk::filter(3, 3).pad(1)>(device, {{2, 8, 6, 9}, 16, "nhwc+8", "nhwc+8", "nhwc"});
    check_plain<T, fk::filter(3, 3).pad(1)>(device, {{2, 24, 9, 6}, 48, "nhwc-hw", "nhwc-hw", "nhwc"});
    // Same in wide tiles, of which the last is half empty, or has the column of ones alone; few pixels; three narrow
    // tiles.
    check_plain<T, fk::filter(1, 1)>(device, {{1, 128, 3, 5}, 136, "nhwc", "nhwc", "nhwc"});
    check_plain<T, fk::filter(6, 6).pad(3, 0, 1, 4)>(device, {{1, 8, 9, 12}, 256, "nhwc", "nhwc", "nchw"});
    check_plain<T, fk::filter(3, 3).pad(1).stride(1, 2)>(device, {{2, 56, 8, 11}, 200, "nhwc+8-hw", "nhwc-hw", "nhwc"});
    check_plain<T, fk::filter(3, 2, 2).pad(1)>(device, {{1, 16, 4, 5, 3}, 96, "ndhwc", "ndhwc", "ndhwc"});
    check_plain<T, fk::filter(2, 2)>(device, {{2, 40, 6, 7}, 144, "nhwc", "nhwc", "nhwc"});
    check_plain<T, fk::filter(1, 1)>(device, {{1, 72, 1, 1}, 72, "nhwc", "nhwc", "nhwc"});
    // Packets of four channels, single channels, and pixels; a tail of pixels in the table.
    check_plain<T, fk::filter(3, 1).stride(2)>(device, {{2, 76, 9, 8}, 68, "nhwc", "nhwc", "nhwc"});
    check_plain<T, fk::filter(1, 1).groups(2)>(device, {{1, 266, 5, 7}, 134, "nhwc", "nchw", "nchw"});
    // Single pixels of both operands: strides and slices, groups, windows far in padding, images that are no multiple
    // of quads, negative strides, rows with gaps, the column of ones alone in a tile, and more window rows and columns
    // than a table holds.
    check_plain<T, fk::filter(3, 3).pad(1).stride(2)>(device, {{2, 17, 15, 18}, 70, "nchw", "nchw", "nchw"});
    check_plain<T, fk::filter(7, 7).pad(3).stride(2)>(device, {{2, 3, 19, 22}, 9, "nchw", "nchw", "nchw"});
    check_plain<T, fk::filter(1, 1).stride(2)>(device, {{3, 128, 7, 9}, 66, "nchw", "nchw", "nchw"});
    check_plain<T, fk::filter(2, 3).pad(1, 0, 2, 3).dilation(2, 1).groups(2)>(
        device, {{3, 10, 9, 11}, 6, "nchw-chw", "nchw+1-c", "nchw"});
    check_plain<T, fk::filter(3, 2, 3).pad(1, 0, 1).stride(1, 2, 1)>(device,
                                                                     {{2, 4, 3, 6, 7}, 5, "ncdhw", "ncdhw", "ncdhw"});
    check_plain<T, fk::filter(1, 17).pad(0, 8).stride(1, 2)>(device, {{1, 2, 3, 40}, 5, "nchw", "nchw", "nchw"});
    check_plain<T, fk::filter(3, 3).pad(1).stride(2)>(device, {{3, 5, 13, 14}, 6, "nchw", "nchw", "nchw"});
    check_plain<T, fk::filter(3, 2).stride(2)>(device, {{4, 3, 7, 10}, 4, "nchw", "nchw", "nchw"});
    check_plain<T, fk::filter(12, 13).pad(6).stride(3)>(device, {{2, 2, 9, 10}, 3, "nchw", "nchw", "nchw"});
    // Quads of rows: column strides 1 and 2, rows and images that are no multiple of quads, padding on all sides,
    // dilations, groups, and the column of ones alone in a tile. Edges are in the first and last rows, in rows shorter
    // than 16 bytes, and, in an image of one row, in all rows.
    check_plain<T, fk::filter(3, 3).pad(1).stride(2)>(device, {{2, 24, 15, 18}, 68, "nchw", "nchw", "nchw"});
    check_plain<T, fk::filter(1, 1).stride(2)>(device, {{3, 128, 7, 13}, 64, "nchw", "nchw", "nhwc"});
    check_plain<T, fk::filter(3, 3)>(device, {{2, 48, 9, 11}, 8, "nchw", "nchw", "nchw"});
    check_plain<T, fk::filter(5, 7).pad(2, 3).stride(1, 2)>(device, {{1, 8, 6, 14}, 4, "nchw", "nchw", "nchw"});
    check_plain<T, fk::filter(2, 3).pad(1, 0, 4, 3).dilation(2, 1).groups(2)>(
        device, {{3, 16, 9, 7}, 8, "nchw", "nchw+1", "nchw"});
    check_plain<T, fk::filter(3, 3).pad(6).stride(3, 2).dilation(1, 2)>(
        device, {{2, 16, 8, 10}, 132, "nchw+1", "nchw", "nchw"});
    check_plain<T, fk::filter(3).pad(1).stride(2)>(device, {{5, 8, 1, 27}, 12, "ncw", "ncw", "ncw"});
    // Same for 1x1 filters, whose images are one row, and for rows with gaps.
    check_plain<T, fk::filter(1, 1)>(device, {{3, 24, 7, 7}, 12, "nchw", "nchw", "nchw"});
    check_plain<T, fk::filter(1, 1).groups(2)>(device, {{2, 16, 5, 9}, 8, "nchw+1", "nchw", "nchw"});
    // Planes: images that end within a k-tile or with one, windows in padding on all sides or on some.
    check_plain<T, fk::filter(3, 3).pad(1)>(device, {{2, 44, 13, 21}, 66, "nchw", "nchw", "nhwc"});
    check_plain<T, fk::filter(3, 3).pad(1)>(device, {{3, 4, 1, 29}, 3, "nchw", "nchw", "nchw"});
    check_plain<T, fk::filter(1, 1).groups(2)>(device, {{3, 8, 16, 14}, 6, "nchw", "nchw", "nchw"});
    check_plain<T, fk::filter(2, 3).pad(0, 1, 0, 3).dilation(1, 2)>(device,
                                                                    {{2, 8, 12, 19}, 5, "nchw", "nchw", "nchw"});
}

/// Every window, group and layout, and every case of every loader. With FEWER_KERNELS only half on gfx90a, whose
/// loaders and epilogue the other targets and types share: these run one case for each loader on their matrix units.
template <class T>
void check_all_gradients(fk::hip::Device& device) {
    check_stage<T>();
#ifdef FEWER_KERNELS
    constexpr bool every_case =
        std::is_same_v<T, fk::half> && std::is_same_v<fk::hip::arch::Target, fk::hip::arch::Gfx90a>;
#else
    constexpr bool every_case = true;
#endif
    constexpr bool has_loaders = std::is_same_v<T, fk::half> || has_unit<T>;
    if constexpr (every_case) check_weight_gradients<T>(device);
    if constexpr (every_case && has_loaders) check_all_loaders<T>(device);
    else if constexpr (has_loaders) check_each_loader<T>(device);
}

}  // namespace test
