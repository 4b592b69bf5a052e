// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "fusekit/backend/hip/arch/tensor_map.hpp"
#include "fusekit/backend/hip/bulk_maps.hpp"
#include "fusekit/tensor/view.hpp"

namespace fusekit::hip {

/// Tensor maps of x and dy for the TMA loads of BulkWeightGradient. With `has_windows` a k-tile has consecutive pixels
/// and the map of x is in im2col mode, (C, W, H, N). Otherwise, for filters of one tap, it has every phases-th pixel: a
/// row of a map has `phases` pixels, so that its bytes are a multiple of 16, and a CTA reduces the pixels of one phase.
/// TMA boxes begin at multiples of 16 bytes, up to 7 elements before the channels of a block, which then has fewer than
/// 64 channels.
struct WeightGradientMaps {
    TensorMap x, dy;
    bool in_use = false, has_windows = false;
    bool folds_patches = false;  ///< see fold_patches()
    bool stores_vectors = false;  ///< fits_weight_store(dw)
    unsigned phases = 1;
    int x_step = 0, dy_step = 0;  ///< elements from a pixel to the next one of its row in the maps
    int x_block = 64, dy_block = 64;  ///< channels of a block of 64 columns, and of 64 rows, of a tile
    int pixels = 0;  ///< number of pixels of a phase

    FUSEKIT_H void replace_memory(void const* of_x, void const*) { hip::replace_memory(x, of_x); }
};

namespace detail {

/// Returns the smallest number of consecutive pixels whose bytes are a multiple of 16, 1 to 8; 0 if the pixels do not
/// have one stride, if they are misaligned, or if 8 of them exceed the 32 bits of a coordinate.
FUSEKIT_H inline int phases_of(Layout<4> const& layout, void const* data, std::size_t element_bytes) {
    Extent const bytes = pixel_stride(layout) * static_cast<Extent>(element_bytes);
    if (bytes <= 0 || bytes >= Extent{1} << 29 || (layout.stride[1] != 1 && layout.shape[1] > 1) ||
        !problem::aligned(data, 16))
        return 0;
    for (int phases = 1; phases <= 8; phases *= 2)
        if (bytes * phases % 16 == 0) return phases;
    return 0;
}

/// Channels of a block of 64 rows or columns whose TMA boxes begin up to 7 elements before its channels: pixels are
/// `step` elements apart, and 8 elements have 16 bytes.
FUSEKIT_H constexpr int shifted_block(Extent step) {
    int aligned = 8;
    while (step % aligned != 0) aligned /= 2;
    return 64 - (8 - aligned);
}

/// Encodes a tensor map of the pixels of a tensor as rows of `phases` pixels, in boxes of `rows` x `channels_of_box`.
template <class T>
[[gnu::cold]] FUSEKIT_H bool encode_phases(TensorMap& map, TensorView<T> const& view, std::uint32_t channels_of_box,
                                           int rows, int phases) {
    Layout<4> const& layout = view.layout;
    Extent const step = pixel_stride(layout), pixels = layout.shape[0] * layout.shape[2] * layout.shape[3];
    std::uint64_t const extents[] = {static_cast<std::uint64_t>((phases - 1) * step + layout.shape[1]),
                                     static_cast<std::uint64_t>(pixels / phases)},
                        strides[] = {static_cast<std::uint64_t>(step * phases * static_cast<Extent>(sizeof(T)))};
    std::uint32_t const box[] = {channels_of_box, static_cast<std::uint32_t>(rows)};
    return encode_tiled(map, sizeof(T), 2, view.data, extents, strides, box);
}

}  // namespace detail

}  // namespace fusekit::hip
